/**
 * Thousands may wait on one signal: those of an apply all wait on the signal that stops it. A signal looks through all
 * its listeners whenever one is added, so they share one listener here and cost the same however many they are.
 */

interface Waiting {
  readonly listeners: Set<() => void>
  /** The one that the signal has. */
  readonly tellAll: () => void
}

const waiting = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls `listener` once, when the signal is aborted. Not called when it was aborted before.
 * @returns what takes the listener back
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const {listeners, tellAll} = waiting.get(signal) ?? listened(signal)
  const own = () => listener()
  listeners.add(own)
  return () => {
    // A signal made of others is kept alive by whoever listens to it.
    if (listeners.delete(own) && listeners.size === 0) {
      signal.removeEventListener('abort', tellAll)
      waiting.delete(signal)
    }
  }
}

function listened(signal: AbortSignal): Waiting {
  const listeners = new Set<() => void>()
  const tellAll = () => {
    const all = [...listeners]
    listeners.clear()
    for (const tell of all) tell()
  }
  const made = {listeners, tellAll}
  waiting.set(signal, made)
  signal.addEventListener('abort', tellAll, {once: true})
  return made
}
