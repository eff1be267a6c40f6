/**
 * Why an operation is what it is, as a word: what its `reason` says in a sentence. Programs and our own decisions read the
 * word; the sentence is for people and may change.
 */

export const CAUSES = {
  // create, and a removal that finds nothing left
  'not-there': 'nothing like it is there yet',
  gone: 'the object the ledger has is not there any more',
  // update
  'changed-in-git': 'the declaration changed since the last apply',
  'changed-outside': 'somebody changed the object since the last apply',
  'changed-both': 'both changed since the last apply',
  differs: 'it differs from the declaration, and nobody can tell since when',
  // adopt, and an update or replacement that adopts
  'found-by-name': 'a live object has its natural key',
  'import-block': 'an import block names the object',
  'ledger-older': 'it is as declared, and the ledger has older values',
  accepted: '--accept: somebody reached the declared state by other means',
  // move
  'address-changed': 'the ledger has it under another address',
  'stack-changed': 'another stack of the app has it, and does not declare it any more',
  // replace
  'parent-changed': 'it moves to another parent',
  'parent-replaced': 'its parent is replaced',
  'immutable-field': 'a field differs that cannot be changed in place',
  // delete and forget
  'not-declared': 'nobody declares it any more',
  destroy: 'destroy was asked for',
  exclusive: 'it stands undeclared in a collection that is exclusive',
  'made-inline': 'it was made with its parent, and goes with it',
  'address-reused': 'its address is declared and means another object now',
  'held-elsewhere': 'another address has the same object',
  deposed: 'it gave its address to another object, and is what is left to delete',
  'removed-block': 'a removed block says to forget it',
  retain: 'its removal policy says that it stays',
  'never-deleted': 'objects of its kind are never deleted',
  'goes-with-parent': 'its parent takes it along',
  // whatever an undo plans
  undone: 'a run did the contrary, and is undone',
  // blocked, or replace where one of the verbs is missing
  'no-create': 'the API cannot create it',
  'no-update': 'the API cannot change it in place',
  'no-delete': 'the API cannot delete it',
  'name-kept': 'create_before_destroy, and the name stays the same',
  'name-taken': 'an object that keeps it has the name',
  'not-known-yet': 'it may mean an object that a ledger has: not all of it is known yet',
  'not-empty': 'it still holds what this run does not remove',
  'successor-blocked': 'its address means another object now, and that is blocked',
  'owned-elsewhere': 'another stack has it in its ledger',
  'declared-elsewhere': 'another stack declares it',
  'moved-to-stack': 'another stack declares it now: it is to be transferred',
  'maybe-elsewhere': 'another stack may have it, and its ledger does not say so: it cannot be read, or a run did not end',
  'holds-elsewhere': 'it holds what another stack has',
  'list-not-whole': 'its list, or a row of it, could not be read whole: it may be there',
  'maybe-several': 'another one may be called so: their list could not be read whole',
  'row-without-id': 'its list shows something like it without an id',
  'list-stale': 'its list shows it, and it is not there when it is read by its id',
  // no-op
  'as-declared': 'it is as declared',
  'already-satisfied': 'somebody was faster: it is as planned',
  'done-before': 'the run this is the rest of did it',
} as const satisfies Readonly<Record<string, string>>

export type Cause = keyof typeof CAUSES

export const CAUSE_WORDS = Object.keys(CAUSES) as readonly Cause[]
