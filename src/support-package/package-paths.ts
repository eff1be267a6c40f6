/** What a package may be of, and the two families of paths that make one (wire facts, "Paths behind the client commands"). */

import {partOfPath} from '../base/path-part.ts'

export type PackageScope =
  | {readonly type: 'cluster'}
  | {readonly type: 'database'; readonly uid: string}
  /** Without a uid: all nodes. */
  | {readonly type: 'node'; readonly uid?: string}

export interface PackagePath {
  readonly path: string
  /** The answer holds more than was asked for. */
  readonly allNodes?: true
}

/** The family asked for first, the other one behind it for servers that lack it. */
export function packagePaths(scope: PackageScope, newApi: boolean): readonly PackagePath[] {
  const families = [oldPath(scope), newPath(scope)]
  return newApi ? families.toReversed() : families
}

function oldPath(scope: PackageScope): PackagePath {
  if (scope.type === 'cluster') return {path: '/v1/debuginfo/all'}
  if (scope.type === 'database') return {path: `/v1/debuginfo/all/bdb/${encodeURIComponent(scope.uid)}`}
  return {path: '/v1/debuginfo/node', ...(scope.uid !== undefined && {allNodes: true})}
}

function newPath(scope: PackageScope): PackagePath {
  if (scope.type === 'cluster') return {path: '/v1/cluster/debuginfo'}
  if (scope.type === 'database') return {path: `/v1/bdbs/${encodeURIComponent(scope.uid)}/debuginfo`}
  return {path: scope.uid === undefined ? '/v1/nodes/debuginfo' : `/v1/nodes/${encodeURIComponent(scope.uid)}/debuginfo`}
}

/** Contract section 4, "Default file names". */
export function defaultFileName(scope: PackageScope, now: number): string {
  return partOfPath(`support-package-${nameOf(scope)}-${timestamp(now)}.tar.gz`, 'an archive')
}

const nameOf = (scope: PackageScope): string =>
  scope.type === 'cluster' ? 'cluster' : scope.uid === undefined ? 'nodes' : `${scope.type}-${scope.uid}`

/** `YYYYMMDDTHHMMSS`, UTC. */
const timestamp = (now: number): string => new Date(now).toISOString().replace(/[-:]/g, '').slice(0, 15)
