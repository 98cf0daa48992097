// Agents and their settings, as the Python side has them: `python tools/browser_engine.py` writes settings.json.

import type { EngineSettings } from "./agents/opponents";
import written from "./settings.json";

export const SETTINGS = written as EngineSettings;
