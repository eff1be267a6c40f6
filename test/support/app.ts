/** A program of stacks in a folder of its own, as somebody has it who installed svcctl: cdktf.json, main.ts, node_modules. */
import {cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {appPackages} from './app-packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGES = ['cdktf', 'constructs', 'tsx', '@cdktf/provider-null'] as const
/** Of svcctl's package: the constructs, which take what they extend from where they lie. */
const LIBRARY = 'lib'

/**
 * @param files - by their paths in the folder; the program begins in `main.ts`, or in `main.mjs`, which runs in half the
 *   time: for tests that are not about TypeScript
 */
export function makeApp(folder: string, files: Readonly<Record<string, string>>): void {
  linkPackages(folder)
  const app = 'main.mjs' in files ? 'node main.mjs' : 'node --import tsx main.ts'
  writeFileSync(join(folder, 'cdktf.json'), JSON.stringify({app}))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({type: 'module'}))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), {recursive: true})
    writeFileSync(join(folder, name), text)
  }
}

/** As if svcctl and what its stacks stand on had been installed there. */
export function linkPackages(folder: string): void {
  const modules = join(folder, 'node_modules')
  const [ours, built] = [join(modules, 'svcctl', 'dist'), join(root, 'dist')]
  mkdirSync(join(modules, '@cdktf'), {recursive: true})
  mkdirSync(ours, {recursive: true})
  for (const name of PACKAGES) symlinkSync(join(appPackages(), name), join(modules, name))
  cpSync(join(root, 'package.json'), join(modules, 'svcctl', 'package.json'))
  cpSync(join(built, LIBRARY), join(ours, LIBRARY), {recursive: true})
  for (const name of readdirSync(built)) if (name !== LIBRARY) symlinkSync(join(built, name), join(ours, name))
}
