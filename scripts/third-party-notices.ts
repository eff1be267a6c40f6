/** The licences of what is bundled into the program and the library: they ask to go along with every copy. */
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'

interface PackageJson {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/**
 * @param inputs - the bundled files, relative to `root`, as esbuild's metafile names them
 * @throws Error when a package says nothing about its licence
 */
export function thirdPartyNotices(root: string, inputs: Iterable<string>): string {
  const folders = new Set<string>()
  for (const input of inputs) {
    const inside = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)
    if (inside?.[1] !== undefined) folders.add(inside[1])
  }
  const notices = [...folders].sort().map(folder => {
    const {name, version, license} = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as PackageJson
    const file = readdirSync(join(root, folder)).find(it => /^(licen[cs]e|copying)(\.|-|$)/i.test(it))
    if (license === undefined && file === undefined) throw new Error(`${name} ${version} says nothing about its licence`)
    const text = file === undefined || !existsSync(join(root, folder, file)) ? '' : readFileSync(join(root, folder, file), 'utf8').trim()
    return `${name} ${version} (${license ?? 'see below'})\n\n${text}`.trim()
  })
  return `svcctl contains the following packages.\n\n${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
