/** A program of one command that oclif itself runs, with a manifest and no plugins: what every call of ours would pay at least. */
import {mkdirSync, mkdtempSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'

const COMMAND = {
  id: 'hello',
  summary: 'says a word',
  aliases: [],
  hiddenAliases: [],
  args: {},
  flags: {},
  hasDynamicHelp: false,
  strict: true,
  pluginAlias: 'probe',
  pluginName: 'probe',
  pluginType: 'core',
  isESM: true,
  relativePath: ['commands', 'hello.js'],
}

/** @returns its first file; it is called with `hello` */
export function oclifProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-oclif-program-'))
  mkdirSync(join(folder, 'commands'))
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const files = {
    'package.json': JSON.stringify({
      name: 'probe',
      version: '1.0.0',
      type: 'module',
      oclif: {bin: 'probe', commands: './commands', plugins: []},
    }),
    'oclif.manifest.json': JSON.stringify({version: '1.0.0', commands: {hello: COMMAND}}),
    'commands/hello.js':
      "import {Command} from '@oclif/core'\nexport default class Hello extends Command {\n  async run() {\n    this.log('1.0.0')\n  }\n}\n",
    'bin.js': "import {execute} from '@oclif/core'\nawait execute({dir: import.meta.url})\n",
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return join(folder, 'bin.js')
}
