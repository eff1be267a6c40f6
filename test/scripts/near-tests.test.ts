import {describe, expect, it} from 'vitest'
import {testsNear} from '../../scripts/near-tests.mjs'

const THERE = new Set([
  'test',
  'test/engine',
  'test/engine/plan',
  'test/engine/plan/diff.test.ts',
  'test/cli',
  'test/scripts',
  'test/bench',
  'test/commands',
  'test/commands/undo.test.ts',
  'test/commands/undo',
])
const near = (...changed: readonly string[]) => testsNear(changed, path => THERE.has(path))
const ARCHITECTURE = 'test/architecture.test.ts'

describe('the tests near a changed file', () => {
  it('are the one of its name, or those of the nearest folder', () => {
    expect(near('src/engine/plan/diff.ts')).toEqual([ARCHITECTURE, 'test/engine/plan/diff.test.ts'])
    expect(near('src/engine/plan/order.ts')).toEqual([ARCHITECTURE, 'test/engine/plan/'])
    expect(near('src/cli/show/help.ts', 'scripts/build.ts', 'bench/run.ts')).toEqual([
      ARCHITECTURE,
      'test/bench/',
      'test/cli/',
      'test/scripts/',
    ])
  })

  it('are those in the folder of its name, too', () => {
    expect(near('src/commands/undo.ts')).toEqual([ARCHITECTURE, 'test/commands/undo.test.ts', 'test/commands/undo/'])
  })

  it('are a test that was changed itself, unless it is gone, and those of a helper beside it', () => {
    expect(near('test/engine/plan/diff.test.ts', 'test/engine/gone.test.ts', 'test/cli/helper.ts')).toEqual([
      ARCHITECTURE,
      'test/cli/',
      'test/engine/plan/diff.test.ts',
    ])
  })

  it('are those of documents, for what people read', () => {
    expect(near('README.md')).toEqual([ARCHITECTURE, 'test/documents.test.ts', 'test/readme.test.ts'])
    expect(near('docs/cli.md')).toEqual([ARCHITECTURE, 'test/documents.test.ts'])
  })

  it('are all, where what all stand on has changed, and no more than the architecture where nobody stands on it', () => {
    expect(near('test/support/site.ts', 'src/engine/plan/diff.ts')).toBeUndefined()
    expect(near('package.json')).toBeUndefined()
    expect(near('src/new-room/file.ts', 'LICENSE')).toEqual([ARCHITECTURE])
  })
})
