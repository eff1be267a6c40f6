/** A program of stacks in a folder of its own, as somebody has it who installed svcctl: cdktf.json, main.ts, node_modules. */
import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGES = ['cdktf', 'constructs', 'tsx', '@cdktf/provider-null'] as const

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
  mkdirSync(join(modules, '@cdktf'), {recursive: true})
  for (const name of PACKAGES) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  symlinkSync(root, join(modules, 'svcctl'))
}
