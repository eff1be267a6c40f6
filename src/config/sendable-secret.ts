/** A key that is sent as a header is refused where it is stored: where it is used, nobody knows any more how it came there. */
import {assertSendableAs} from '../transport/header-values.ts'
import {hasReference} from './expand.ts'
import {profileField} from './profile-fields.ts'
import {KEYRING_PREFIX} from './profiles.ts'

/**
 * @param what - the secret, as the person calls it who gives it
 * @param isKept - it goes into the keyring, which has no references
 * @throws HeaderValueError
 */
export function assertSendableSecret(field: string, text: string, what: string, isKept: boolean): void {
  if (profileField(field)?.inHeader !== true || text.startsWith(KEYRING_PREFIX)) return
  // What a reference stands for cannot be judged before it is used.
  if (isKept || !hasReference(text)) assertSendableAs(what, text)
}
