/**
 * Links that a checkout brings along. Whoever may change a branch can lay a link in it, and nothing that is written
 * through one may land outside of the checkout: nobody who runs a command there has said so.
 */
import {lstatSync, readlinkSync} from 'node:fs'
import {userInfo} from 'node:os'
import {dirname, join, parse, resolve, sep} from 'node:path'
import {isWithin, repositoryOf} from './repository.ts'

export interface LinkOut {
  readonly link: string
  /** What would be written, with all links followed. */
  readonly target: string
  readonly repository: string
}

const MOST_LINKS = 40

/**
 * A home folder that is a repository itself is its owner's: who keeps settings in one lays such links.
 *
 * @param path - there need not be anything yet
 * @returns the first link on the way that lies in a repository which the way then leaves for good
 */
export function linkOutOfCheckout(path: string): LinkOut | undefined {
  const {links, target} = wayOf(resolve(path))
  for (const link of links) {
    const repository = repositoryOf(dirname(link))
    if (repository !== undefined && repository !== home() && !isWithin(target, repository)) return {link, target, repository}
  }
  return undefined
}

/** The links on a way, each where it really lies, and where the way ends, as far as there is anything. */
function wayOf(path: string): {readonly links: readonly string[]; readonly target: string} {
  const links: string[] = []
  const {root} = parse(path)
  let at = root
  const open = partsOf(path)
  for (let part = open.shift(); part !== undefined; part = open.shift()) {
    const next = part === '..' ? dirname(at) : join(at, part)
    const aim = links.length < MOST_LINKS ? aimOf(next) : undefined
    if (aim === undefined) {
      at = next
      continue
    }
    links.push(next)
    open.unshift(...partsOf(aim))
    if (aim.startsWith(sep)) at = root
  }
  return {links, target: at}
}

const partsOf = (path: string): string[] => path.split(sep).filter(it => it !== '' && it !== '.')

/** What a link leads to; `undefined` for what is none, is not there, or cannot be looked at: whoever writes says so. */
function aimOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}

function home(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    return undefined
  }
}
