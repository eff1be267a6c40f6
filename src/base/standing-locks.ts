/**
 * Locks behind an address that this process has asked for and has not given back yet. Nobody sees there that a process has
 * ended: whoever ends this one at once names them, each with the way to lift it.
 */

/** How to lift each, by its id. */
const standing = new Map<string, string>()

/** From right before it is asked for. @param words - which lock that is, and what lifts it */
export const lockAsked = (id: string, words: string): void => void standing.set(id, words)

/** It is not held by us: it was given back, or somebody else has it. */
export const lockGone = (id: string): void => void standing.delete(id)

export const standingLocks = (): readonly string[] => [...standing.values()]

/** Whoever says an error that names locks (its `lockIds`) says so here: they are not named again when the process ends. */
export function lockNamed(error: unknown): void {
  if (!(error instanceof Error) || !('lockIds' in error) || !Array.isArray(error.lockIds)) return
  for (const id of error.lockIds) lockGone(String(id))
}
