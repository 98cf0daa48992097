// Two short taps from the audio clock, no files. Off unless the player turns it on.

let context: AudioContext | null = null;

export function tap(kind: "move" | "end"): void {
  context ??= new AudioContext();
  const now = context.currentTime;
  for (const [delay, pitch] of kind === "move" ? [[0, 320]] : [[0, 320], [0.14, 240]]) {
    const tone = context.createOscillator();
    const loudness = context.createGain();
    tone.type = "triangle";
    tone.frequency.value = pitch!;
    loudness.gain.setValueAtTime(0.25, now + delay!);
    loudness.gain.exponentialRampToValueAtTime(0.001, now + delay! + 0.12);
    tone.connect(loudness).connect(context.destination);
    tone.start(now + delay!);
    tone.stop(now + delay! + 0.13);
  }
}
