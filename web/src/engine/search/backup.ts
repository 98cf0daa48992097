// Backup: the value of a first move from the values after it, in log odds of the player (search/minimax/backup.py).

import type { Node } from "./tree";

export type Backup = (parent: Node, node: Node | null) => number;

/** The minimum at the opponent's turn, half of the maximum at the player's. */
const halfMax: Backup = (parent, node) => {
  if (!node) return parent.odds;
  if (!node.children.size) return node.odds;
  const later = [...node.children.values()].map((child) => halfMax(node, child));
  return node.players ? (node.odds + Math.max(...later)) / 2 : Math.min(...later);
};

/** The mean along the line that both sides choose by its mean. */
const lineMean: Backup = (parent, node) => {
  const [total, count] = line(parent, node);
  return total / count;
};

/** The sum of the values along the chosen line from a node on, and their number. */
function line(parent: Node, node: Node | null): [number, number] {
  if (!node) return [parent.odds, 1];
  if (!node.children.size) return [node.odds, 1];
  const sign = node.players ? 1 : -1;
  const mean = ([total, count]: [number, number]): number => (sign * (node.odds + total)) / (1 + count);
  const lines = [...node.children.values()].map((child) => line(node, child));
  const [total, count] = lines.reduce((best, one) => (mean(one) > mean(best) ? one : best));
  return [node.odds + total, 1 + count];
}

export const BACKUPS = { "half-max": halfMax, "line-mean": lineMean };

/** The scores of the expanded moves of a node, for the side to move there: log prior + weight x log odds. */
export function scores(node: Node, valueWeight: number, backup: Backup): Map<string, number> {
  const sign = node.players ? 1 : -1;
  return new Map(
    [...node.children].map(([move, child]) => {
      const prior = Math.log(Math.max(node.evaluation!.priors.get(move)!, 1e-12));
      return [move, prior + valueWeight * sign * backup(node, child)];
    }),
  );
}
