/** A code host as far as a plan needs one: comments on one pull or merge request, and what its reviewers said. */

export interface HostComment {
  readonly id: string
  readonly body: string
  readonly url: string
  /** Milliseconds. */
  readonly createdAt: number
  /** When it began to say what it says; 0 where nobody says. */
  readonly updatedAt: number
}

/** A person's yes, of a commit, at a time. */
export interface HostApproval {
  readonly by: string
  readonly at: number
}

export interface HostReview {
  /** The newest commit of the request; absent where the host does not say. */
  readonly head?: string
  /** It is neither merged nor closed. */
  readonly open: boolean
  /** Absent where the host does not say: then nobody can tell who is somebody else. */
  readonly author?: string
  /** Those that count: of this commit, not taken back, of somebody who may write there and is neither the author nor this program. */
  readonly approvals: readonly HostApproval[]
  /** Why the host itself would not let it pass yet. */
  readonly missing?: string
}

/** The commit as its host names it, which a plan may name by its first digits: what was approved is compared with all of them. */
export const wholeCommit = (named: string, head: string | undefined): string => (head?.startsWith(named) ? head : named)

export interface ReviewHost {
  readonly name: 'github' | 'gitlab'
  /** Those that whoever has this token wrote. */
  comments(): Promise<readonly HostComment[]>
  create(body: string): Promise<HostComment>
  update(id: string, body: string): Promise<HostComment>
  /** One that is gone already is removed. */
  remove(id: string): Promise<void>
  review(commit: string): Promise<HostReview>
}
