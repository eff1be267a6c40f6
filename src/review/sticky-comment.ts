/**
 * One comment per app and set of stacks, whoever writes it: the oldest wins, a newer run is never overwritten, and two
 * that were made at once become one. There is no lock on a comment, so the order of looking and writing is what holds.
 */
import type {HostComment, ReviewHost} from './review-host.ts'

export interface CommentMark {
  readonly key: string
  readonly run: number
  readonly hash?: string
  readonly commit?: string
}

/** What the first line of a comment of ours says; `undefined` for anybody else's. */
export function markIn(body: string): CommentMark | undefined {
  const match = /^<!-- svcctl key=([0-9a-f]{12}) run=(\d{1,15}) hash=([0-9a-f]{64}|-) commit=([0-9a-f]{8,64}|-) -->/.exec(body.trimStart())
  if (match === null) return undefined
  const [, key = '', run = '', hash, commit] = match
  return {
    key,
    run: Number(run),
    ...(hash === undefined || hash === '-' ? {} : {hash}),
    ...(commit === undefined || commit === '-' ? {} : {commit}),
  }
}

export interface Marked {
  readonly comment: HostComment
  readonly mark: CommentMark
}

/** Our own comments with this key, oldest first. What somebody else wrote is no comment of ours, whatever it says. */
export async function ownComments(host: ReviewHost, key: string): Promise<readonly Marked[]> {
  const marked = (await host.comments()).flatMap((comment): Marked[] => {
    const mark = markIn(comment.body)
    return mark?.key === key ? [{comment, mark}] : []
  })
  return marked.toSorted((a, b) => a.comment.createdAt - b.comment.createdAt || Number(a.comment.id) - Number(b.comment.id))
}

export interface Commented {
  readonly action: 'created' | 'updated' | 'skipped'
  readonly url: string
}

/** @param body - its first line is the mark */
export async function stickyComment(host: ReviewHost, body: string): Promise<Commented> {
  const mine = markIn(body)
  if (mine === undefined) throw new TypeError('the comment has no mark')
  const known = await ownComments(host, mine.key)
  if (known.length > 0) return keepOne(host, known, mine, body)
  const made = await host.create(body)
  // Another run may have looked at the same time, and found nothing either.
  const now = await ownComments(host, mine.key)
  const others = now.filter(it => it.comment.id !== made.id)
  if (others.length === 0) return {action: 'created', url: made.url}
  const {action, url} = await keepOne(host, now, mine, body)
  return {action: action === 'skipped' ? 'skipped' : 'created', url}
}

async function keepOne(host: ReviewHost, comments: readonly Marked[], mine: CommentMark, body: string): Promise<Commented> {
  const [oldest, ...others] = comments
  if (oldest === undefined) throw new TypeError('there is no comment to keep')
  const newer = comments.find(it => it.mark.run > mine.run)
  if (newer !== undefined) {
    // Whoever is newer puts theirs into the oldest; what this run left beside it goes.
    for (const it of others) if (it.mark.run === mine.run) await host.remove(it.comment.id)
    return {action: 'skipped', url: newer.comment.url}
  }
  const updated = oldest.comment.body === body ? oldest.comment : await host.update(oldest.comment.id, body)
  for (const it of others) await host.remove(it.comment.id)
  return {action: 'updated', url: updated.url || oldest.comment.url}
}
