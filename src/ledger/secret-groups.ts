/**
 * Digests over several secrets: one over all of them, and where there are many one over each group, each subgroup, and
 * so on. As long as the first holds, nothing changed. Where it does not, a few more tell where to look, instead of one
 * for each secret there is.
 *
 * Who belongs to a group is decided by a hash of what a digest is bound to, so that one secret more or less changes the
 * groups it is in and no others. A digest over a group is a scrypt over all its values, as hard to guess as all of
 * them together; beside it stands of which records it was made, which everybody may know.
 */
import {createHash} from 'node:crypto'
import {canonicalJson} from '../base/json.ts'

/** A larger group has groups of its own, sixteen of them. */
const LARGEST = 40
/** One by one they cost no more. */
const SMALLEST = 3

/** A digest that a ledger has of one secret. */
export interface GroupMember {
  readonly context: string
  readonly recorded: string
}

/** What a ledger keeps over several secrets: `''` is over all, `a` over those whose hash begins with it. */
export type GroupDigests = ReadonlyMap<string, string>

/** The part of a ledger that is about several secrets. */
export interface OverSeveral {
  readonly secretsDigest?: string
  readonly secretGroups?: Readonly<Record<string, string>>
}

export const groupDigestsOf = ({secretsDigest, secretGroups = {}}: OverSeveral): GroupDigests =>
  new Map([...(secretsDigest === undefined ? [] : [['', secretsDigest] as const]), ...Object.entries(secretGroups)])

export function overSeveral(groups: GroupDigests): OverSeveral {
  const all = groups.get('')
  const smaller = [...groups].filter(([group]) => group !== '')
  return {
    ...(all === undefined ? {} : {secretsDigest: all}),
    ...(smaller.length === 0 ? {} : {secretGroups: Object.fromEntries(smaller)}),
  }
}

/** A digest over a group, and of which records it is. */
export const withRecords = (digest: string, members: readonly GroupMember[]): string => `${digest}/${recordsOf(members)}`

/** The digest, if it was made of these very records; one that does not say of which may have been. */
export function digestOfRecords(kept: string | undefined, members: readonly GroupMember[]): string | undefined {
  const [digest, records] = kept?.split('/') ?? []
  return records === undefined || records === recordsOf(members) ? digest : undefined
}

/** Whether it is known to have been made of these very records. */
export const isOfRecords = (kept: string | undefined, members: readonly GroupMember[]): boolean =>
  kept?.split('/')[1] === recordsOf(members)

const recordsOf = (members: readonly GroupMember[]): string =>
  createHash('sha256')
    .update(
      members
        .map(({context, recorded}) => canonicalJson([context, recorded]))
        .sort()
        .join('\n'),
    )
    .digest('base64url')
    .slice(0, 16)

/** All groups that these make, the largest first. */
export function groupsAmong<T extends GroupMember>(members: readonly T[], group = ''): ReadonlyMap<string, readonly T[]> {
  if (members.length === 0 || (group !== '' && members.length < SMALLEST)) return new Map()
  const smaller = members.length <= LARGEST ? [] : [...splitUp(members, group)].flatMap(([name, part]) => [...groupsAmong(part, name)])
  return new Map([[group, members], ...smaller])
}

/** By the next digit of their hashes. */
export function splitUp<T extends {readonly context: string}>(members: readonly T[], group: string): ReadonlyMap<string, readonly T[]> {
  const parts = new Map<string, T[]>()
  for (const member of members) {
    const name = createHash('sha256')
      .update(member.context)
      .digest('hex')
      .slice(0, group.length + 1)
    const part = parts.get(name) ?? []
    if (part.length === 0) parts.set(name, part)
    part.push(member)
  }
  return parts
}
