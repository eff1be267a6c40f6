/** What becomes of a member when an archive is optimised (contract section 4, "Optimisation rules"), by name and type. */
import type {TarMember} from './tar-members.ts'

/** Nested archives and rotated logs: compressed already, and most of what makes packages large. */
export const isNestedGzip = (path: string): boolean => /\.gz$/i.test(path)

const LOG_NAME = /\.log(?:[.-][\w.-]*)?$/i
/** Below a folder of logs, what has no ending, or that of a text or of a rotation. */
const LOG_FOLDER = /(?:^|\/)logs?\//i
const PLAIN_ENDING = /^[^.]*$|\.(?:txt|out|err|stdout|stderr|\d+)$/i

export function isLog(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return LOG_NAME.test(name) || (LOG_FOLDER.test(path) && PLAIN_ENDING.test(name))
}

/** Leftovers that no diagnosis needs: bytecode, editors' copies, a desktop's notes. */
const UNNECESSARY = /(?:^|\/)(?:__pycache__\/[^/]+|\.DS_Store|[^/]+\.(?:pyc|pyo|swp)|[^/]+~)$/

export const isUnnecessary = (path: string): boolean => UNNECESSARY.test(path)

/** File, hard link, symbolic link, folder, and two old spellings of file. Devices and pipes have no place in a package. */
const KNOWN_TYPES = new Set(['0', '1', '2', '5', '7', 'S'])
const CONTROL = /\p{Cc}/u

/**
 * Why a member must not be unpacked by anybody.
 *
 * @param links - names of the symbolic links kept so far, without a slash at the end
 * @returns `undefined` when it is harmless
 */
export function hostility(member: TarMember, links: ReadonlySet<string>): string | undefined {
  const {path, sparsePath} = member
  const wrong = hostilityAt(path, member, links)
  // Which of the two it gets is up to who unpacks it.
  return wrong === undefined && sparsePath !== undefined ? hostilityAt(sparsePath, member, links) : wrong
}

function hostilityAt(path: string, {linkPath, type, ambiguous, tooLong}: TarMember, links: ReadonlySet<string>): string | undefined {
  if (tooLong || isLongerThanDisksTake(path)) return 'a name that no disk takes'
  if (!KNOWN_TYPES.has(type)) return ['3', '4', '6'].includes(type) ? 'a device or a pipe' : `of unknown type ${JSON.stringify(type)}`
  if (path === '') return 'without a name'
  if (ambiguous) return 'with two names'
  if (CONTROL.test(path) || CONTROL.test(linkPath)) return 'control characters in the name'
  if (isAbsolute(path)) return 'an absolute path'
  if (segmentsOf(path).includes('..')) return 'a path that leaves the archive'
  if (throughLink(path, links)) return 'below a symbolic link'
  if (type === '2' && leaves(path, linkPath)) return 'a link that leaves the archive'
  if (type === '1' && (linkPath === '' || isAbsolute(linkPath) || segmentsOf(linkPath).includes('..')))
    return 'a link that leaves the archive'
  // It would be a second symbolic link, with the same way up from another place.
  if (type === '1' && (links.has(memberPath(linkPath)) || throughLink(linkPath, links))) return 'a hard link to a symbolic link'
  return undefined
}

/** Of one folder or file, and how many of them stand within each other: real packages have a dozen. */
const LONGEST_SEGMENT = 255
const DEEPEST = 100

/** It bounds what the rules cost that look at a name from each of its places on. */
function isLongerThanDisksTake(path: string): boolean {
  const segments = segmentsOf(path)
  return segments.length > DEEPEST || segments.some(({length}) => length > LONGEST_SEGMENT)
}

/** Also as Windows reads it. */
const isAbsolute = (path: string): boolean => /^(?:[/\\]|[A-Za-z]:)/.test(path)

const segmentsOf = (path: string): string[] => path.split(/[/\\]/).filter(segment => segment !== '' && segment !== '.')

/** Names without `./` and slashes at the end, so that the same place has one name. */
export const memberPath = (path: string): string => segmentsOf(path).join('/')

function throughLink(path: string, links: ReadonlySet<string>): boolean {
  if (links.size === 0) return false
  const segments = segmentsOf(path)
  return segments.some((_, at) => at > 0 && links.has(segments.slice(0, at).join('/')))
}

/**
 * Whether a symbolic link may lead outside. Going up is for the beginning of a target only: after a name, which may be
 * a link itself, nobody can tell where it leads.
 */
function leaves(path: string, target: string): boolean {
  if (target === '' || isAbsolute(target)) return true
  const segments = segmentsOf(target)
  const up = segments.findIndex(segment => segment !== '..')
  const climbs = up < 0 ? segments.length : up
  return climbs > segmentsOf(path).length - 1 || segments.slice(climbs).includes('..')
}
