import {mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {isCompiled, programFileAt} from '../../src/absorb/program-file.ts'

let top: string
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'program-file-')))
})
afterEach(() => rmSync(top, {recursive: true}))

const lay = (...names: readonly string[]) => {
  for (const name of names) {
    mkdirSync(dirname(join(top, name)), {recursive: true})
    writeFileSync(join(top, name), '')
  }
}
const link = (name: string, to: string) => {
  mkdirSync(dirname(join(top, name)), {recursive: true})
  symlinkSync(join(top, to), join(top, name))
}
const found = (name: string, cwd = 'repo/infra') => programFileAt(join(top, name), join(top, cwd))?.slice(top.length + 1)

describe('a file that an absorb may edit', () => {
  it('lies in the working folder', () => {
    lay('repo/infra/main.ts')
    expect(found('repo/infra/main.ts')).toBe('repo/infra/main.ts')
  })

  it('is none where a link leads out of the project, and none that a program names elsewhere', () => {
    lay('repo/infra/main.ts', 'other/shop.ts', 'repo-2/shop.ts')
    link('repo/infra/stacks', 'other')
    link('repo/infra/shop.ts', 'repo-2/shop.ts')
    for (const name of ['repo/infra/stacks/shop.ts', 'repo/infra/shop.ts', 'other/shop.ts', 'repo/infra/none.ts'])
      expect(found(name), name).toBeUndefined()
  })

  it('is one of a package beside it where both are one repository, by a link of the workspace or by its own name', () => {
    lay('repo/.git/HEAD', 'repo/infra/main.ts', 'repo/packages/shop/shop.ts', 'other/shop.ts')
    link('repo/infra/node_modules/@acme/shop', 'repo/packages/shop')
    link('repo/infra/out', 'other')
    expect(found('repo/infra/node_modules/@acme/shop/shop.ts')).toBe('repo/packages/shop/shop.ts')
    expect(found('repo/packages/shop/shop.ts')).toBe('repo/packages/shop/shop.ts')
    expect(found('repo/infra/out/shop.ts')).toBeUndefined()
  })

  it('lies in a working folder that is a link itself', () => {
    lay('repo/infra/main.ts')
    link('home/infra', 'repo/infra')
    expect(found('home/infra/main.ts', 'home/infra')).toBe('repo/infra/main.ts')
    expect(found('repo/infra/main.ts', 'home/infra')).toBe('repo/infra/main.ts')
  })

  it('is no package and no text', () => {
    lay('repo/.git/HEAD', 'repo/infra/node_modules/a/index.js', 'repo/infra/.bashrc', 'repo/node_modules/b/index.js')
    link('repo/infra/mine.js', 'repo/infra/node_modules/a/index.js')
    for (const name of ['infra/node_modules/a/index.js', 'infra/.bashrc', 'node_modules/b/index.js', 'infra/mine.js'])
      expect(found(`repo/${name}`), name).toBeUndefined()
  })
})

describe('a file that is compiled', () => {
  it.each([
    ['names its source map', 'main.js', 'run()\n//# sourceMappingURL=main.js.map\n', true],
    [
      'is what TypeScript makes of a module for CommonJS',
      'main.cjs',
      '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n',
      true,
    ],
    ['stands beside its source', 'beside.js', 'run()\n', true],
    ['is not one that only speaks of source maps', 'main.mjs', "log('//# sourceMappingURL=x')\n", false],
    ['is not TypeScript', 'main.ts', '//# sourceMappingURL=main.js.map\n', false],
  ])('%s', (_, name, text, compiled) => {
    lay('beside.ts')
    expect(isCompiled(join(top, name), text)).toBe(compiled)
  })
})
