/** Whether reviewers have approved exactly this plan: its commit, after the comment showed its hash. */
import {NotApprovedError} from './errors.ts'
import {type HostApproval, type ReviewHost, wholeCommit} from './review-host.ts'
import {ownComments} from './sticky-comment.ts'

export interface ToApprove {
  readonly key: string
  readonly hash: string
  readonly commit: string | undefined
  /** Whether a comment shows it, and not what somebody made of that. */
  readonly isAsWritten: (body: string) => boolean
}

/** @returns the last approval @throws NotApprovedError, and what the host throws */
export async function assertApproved(host: ReviewHost, {key, hash, commit, isAsWritten}: ToApprove): Promise<HostApproval> {
  const refuse = (reason: string) => new NotApprovedError(host.name, reason)
  if (commit === undefined) throw refuse('the plan does not say which commit it is made from')
  const [shown] = await ownComments(host, key)
  if (shown === undefined) throw refuse('no comment shows it (svcctl comment)')
  if (shown.mark.hash !== hash)
    throw refuse(`the comment shows the plan ${shown.mark.hash?.slice(0, 12) ?? '-'}, and this is ${hash.slice(0, 12)}`)
  const about = shown.mark.commit
  if (about === undefined || !(about.startsWith(commit) || commit.startsWith(about)))
    throw refuse(`the comment is about commit ${about?.slice(0, 12) ?? '-'}, and the plan is made from ${commit.slice(0, 12)}`)
  if (!isAsWritten(shown.comment.body))
    throw refuse('the comment does not say what this plan does: somebody has changed it, or another version wrote it (svcctl comment)')
  // What the host does not say, or says in a way that nobody can read, proves nothing.
  if (shown.comment.updatedAt <= 0) throw refuse('nobody says since when the comment shows it')
  const {head, open, author, approvals, missing} = await host.review(commit)
  if (open && head === undefined) throw refuse('nobody says which commit is the newest')
  if (open && head !== wholeCommit(commit, head))
    throw refuse(`there is a newer commit${/^[0-9a-f]+$/.test(head ?? '') ? `: ${head?.slice(0, 12)}` : ''}`)
  if (author === undefined) throw refuse('nobody says who its author is')
  if (missing !== undefined) throw refuse(missing)
  const [last] = approvals.toSorted((a, b) => b.at - a.at)
  if (last === undefined) throw refuse(`nobody but its author has approved commit ${commit.slice(0, 12)}`)
  // Hosts know seconds: in the one in which it was written nobody has read it.
  if (last.at <= shown.comment.updatedAt) throw refuse(`${last.by} approved it, and not after the comment showed this plan`)
  return last
}
