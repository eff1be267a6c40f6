import {defineConfig} from 'vitest/config'
import {BaseSequencer, type TestSpecification} from 'vitest/node'

/** What takes longest begins first, so that nobody waits for one file at the end: tests that live of child processes. */
const LONG = [
  /ci-runners/,
  /examples\/plan/,
  /readme/,
  /support-package\/support-package/,
  /stacks\/(?:guards|interrupt|ledger|saved-plan)/,
  /demo/,
  /reconcile/,
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({moduleId}: TestSpecification): number => {
      const at = LONG.findIndex(it => it.test(moduleId))
      return at < 0 ? (moduleId.includes('/commands/') ? LONG.length : LONG.length + 1) : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Files that start child processes share two cores with them; some only wait, and a third worker uses that time.
    maxWorkers: 3,
    // No test replaces a module or changes what others see of this process, and loading all sources again for every
    // file costs half a second each.
    isolate: false,
    sequence: {sequencer: LongFirst},
    disableConsoleIntercept: true,
  },
})
