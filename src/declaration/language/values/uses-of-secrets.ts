/**
 * How often the value of a secret was looked into, by all expressions so far. Whether that went well shows in what comes
 * of it: where an error counts for nothing (`try`, `can`, the branch that is not taken) the result is secret if one was
 * used on the way. To hand a secret on is no use of it.
 */
let uses = 0

export const usesOfSecrets = (): number => uses

export function useSecret(): void {
  uses++
}

/** Runs what ends the whole plan if it fails, or cannot fail: that it went well says nothing of the secrets it used. */
export function usesForgotten<T>(run: () => T): T {
  const before = uses
  const result = run()
  uses = before
  return result
}
