/** Secrets put into the keyring together with the file that refers to them: both are there afterwards, or neither. */
import type {Keyring} from './keyring.ts'

export interface KeyringUndo {
  /** Entries that are as they were before. */
  readonly undone: readonly string[]
  /** Entries that keep what was stored: the keyring refused to give them up. */
  readonly left: readonly string[]
}

/**
 * Stores the secrets, then writes what refers to them. When either fails every entry gets back what it held.
 *
 * @param secrets - by entry name
 * @param onUndo - hears what became of the entries, before the failure is thrown
 * @throws KeyringUnavailableError, and whatever `write` throws
 */
export async function withKeyringEntries<T>(
  keyring: Keyring,
  secrets: Readonly<Record<string, string>>,
  write: () => Promise<T>,
  onUndo: (undo: KeyringUndo) => void,
): Promise<T> {
  const before = new Map<string, string | undefined>()
  try {
    for (const [entry, secret] of Object.entries(secrets)) {
      const held = await keyring.get(entry)
      await keyring.set(entry, secret)
      before.set(entry, held)
    }
    return await write()
  } catch (error) {
    if (before.size > 0) onUndo(await undo(keyring, before))
    throw error
  }
}

async function undo(keyring: Keyring, before: ReadonlyMap<string, string | undefined>): Promise<KeyringUndo> {
  const undone: string[] = []
  const left: string[] = []
  for (const [entry, held] of before) {
    const attempt = held === undefined ? keyring.remove(entry) : keyring.set(entry, held)
    await attempt.then(
      () => undone.push(entry),
      () => left.push(entry),
    )
  }
  return {undone, left}
}

/** For people: what became of the keyring when the rest of the change failed. */
export function undoText({undone, left}: KeyringUndo): string {
  const kept = left.map(entry => `"${entry}"`).join(', ')
  return [
    ...(undone.length === 0 ? [] : ['The keyring is as it was before: nothing of this change was kept there.']),
    ...(left.length === 0
      ? []
      : [`The keyring still holds what was stored as ${kept} (service "svcctl"), and would not give it up: remove it there.`]),
  ].join(' ')
}
