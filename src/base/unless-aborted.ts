import {onAbort} from './on-abort.ts'

/**
 * What `work` comes to, unless the signal is aborted first: then nobody waits for it any more, and that it fails later is
 * no news to anybody. For what only reads: it may go on unseen.
 * @throws the signal's reason
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const forget = signal.aborted ? undefined : onAbort(signal, () => reject(signal.reason))
    if (forget === undefined) reject(signal.reason)
    work.then(resolve, reject).finally(() => forget?.())
  })
}
