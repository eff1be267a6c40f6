import {mkdtempSync, readFileSync, rmSync, statfsSync} from 'node:fs'
import {availableParallelism, totalmem} from 'node:os'
import {join} from 'node:path'
import {defineConfig} from 'vitest/config'
import {BaseSequencer, type TestSpecification} from 'vitest/node'

/** What takes longest begins first, most of it programs that are waited for, so that nobody waits for one file at the end. */
const LONG = [
  /ci-runners|demo|readme|docs\/(?:ways|adopting|migrating|adding-a-kind)|examples\//,
  /properties\/reconcile|failing-state-server|ci-guide|commands\/(?:absorb|transfer\.|apply\/(?:interrupt|resume))|stories\/(?:locks\/stopped-holder|crashes\/(?:half-done|stopped)|secrets\/(?:rotated-secret|every-output))/,
  /bench|html\/page|kinds-contract|engine\/plan\/(?:scaling|agree)|apply\/crash|unfinished-object|lost-answers/,
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({moduleId}: TestSpecification): number => {
      const at = LONG.findIndex(it => it.test(moduleId))
      return at < 0 ? (/\/(?:commands|stories)\//.test(moduleId) ? LONG.length : LONG.length + 1) : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

/** Where the memory of this machine can be a disk: programs run from it, and large files have room. */
const MEMORY_DISK = '/dev/shm'
const ROOM_BYTES = 4 * 2 ** 30

/**
 * The temporary folder of all tests. Ledgers, journals and budgets are written through to the disk, at every step: in
 * memory that costs nothing, and what is tested is the same.
 */
function temporaryFolder(): Record<string, string> {
  try {
    const [, , , options = 'noexec'] = (readFileSync('/proc/mounts', 'utf8').match(/^tmpfs \/dev\/shm .*$/m)?.[0] ?? '').split(' ')
    const {bavail, bsize} = statfsSync(MEMORY_DISK)
    if (options.split(',').includes('noexec') || bavail * bsize < ROOM_BYTES) return {}
    const folder = mkdtempSync(join(MEMORY_DISK, 'svcctl-tests-'))
    // A child that is still ending may write once more.
    process.on('exit', () => rmSync(folder, {recursive: true, force: true, maxRetries: 10}))
    return {TMPDIR: folder}
  } catch {
    return {}
  }
}

/** Each holds up to a gigabyte. */
const WORKERS = Math.max(2, Math.min(Math.ceil(3.5 * availableParallelism()), 12, Math.floor(totalmem() / 2 ** 30)))

/**
 * Plans of thousands of objects are made and dropped: with more room for what is young, a tenth of all work is saved.
 *
 * A worker ends before some of what V8 has optimized pays for that: where it waits longer before it does, a twentieth to a
 * fifth is saved. Measured on Node 20; a Node that does not know the word would not start.
 */
const NODE = ['--max-semi-space-size=64', ...(process.versions.node.startsWith('20.') ? ['--interrupt-budget=500000'] : [])]

/** How much of each of these rooms all tests together run, in percent. It only rises. */
const FLOOR = {lines: 90, branches: 85}

export default defineConfig({
  test: {
    env: temporaryFolder(),
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most of the time a file waits, for its child processes or for a clock: five left two cores idle for a fifth of the time.
    maxWorkers: WORKERS,
    // No test replaces a module or changes what others see of this process, and loading all sources again for every
    // file costs half a second each.
    isolate: false,
    execArgv: NODE,
    sequence: {sequencer: LongFirst},
    disableConsoleIntercept: true,
    // Asked for with --coverage, as .ci/run does. What child processes do is not counted.
    coverage: {
      provider: 'v8',
      include: ['src/engine/**', 'src/ledger/**', 'src/transport/**'],
      reporter: ['json-summary'],
      reportsDirectory: 'node_modules/.coverage',
      reportOnFailure: true,
      thresholds: {'src/engine/**': FLOOR, 'src/ledger/**': FLOOR, 'src/transport/**': FLOOR},
    },
  },
})
