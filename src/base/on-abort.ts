/**
 * Thousands may wait on one signal: those of an apply all wait on the signal that stops it. A signal looks through all
 * its listeners whenever one is added, so they share one listener here and cost the same however many they are.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` once, when the signal is aborted. Not called when it was aborted before.
 * @returns what takes the listener back
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = waiting.get(signal)
  if (listeners === undefined) {
    const all = new Set<() => void>()
    listeners = all
    waiting.set(signal, all)
    signal.addEventListener(
      'abort',
      () => {
        for (const tell of [...all]) tell()
        all.clear()
      },
      {once: true},
    )
  }
  const own = () => listener()
  const all = listeners
  all.add(own)
  return () => void all.delete(own)
}
