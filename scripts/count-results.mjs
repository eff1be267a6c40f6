// The end of `.ci/run`: the slowest test files, what of the sources they ran, the steps that failed, and one line with the
// totals. Beside TESTS.json lies what the tests covered, `coverage/coverage-summary.json`.
// Usage: node scripts/count-results.mjs TESTS.json PASSED_STEPS [FAILED_STEP…] --seconds N
import {existsSync, readFileSync} from 'node:fs'
import {dirname, join, relative} from 'node:path'

const [file = '', passedSteps = '0', ...rest] = process.argv.slice(2)
const failedSteps = rest.slice(0, rest.indexOf('--seconds'))
const seconds = rest.at(-1)

const totals = {passed: Number(passedSteps), failed: failedSteps.filter(it => it !== 'tests').length, skipped: 0}
// The step that ran the tests is counted by its tests.
if (!failedSteps.includes('tests')) totals.passed -= 1

if (existsSync(file)) {
  const {testResults, numPassedTests, numFailedTests, numPendingTests, numTodoTests} = JSON.parse(readFileSync(file, 'utf8'))
  // A file that cannot even be loaded has failed without a test that could say so.
  const broken = testResults.filter(it => it.status === 'failed' && !it.assertionResults.some(test => test.status === 'failed'))
  totals.passed += numPassedTests
  totals.failed += numFailedTests + broken.length
  totals.skipped += numPendingTests + numTodoTests
  const slowest = testResults
    .map(it => ({name: relative(process.cwd(), it.name), seconds: (it.endTime - it.startTime) / 1000}))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 5)
  console.log(`slowest test files: ${slowest.map(it => `${it.name} ${it.seconds.toFixed(0)} s`).join(', ')}`)
} else {
  totals.failed += 1
}
const coverage = join(dirname(file), 'coverage', 'coverage-summary.json')
if (existsSync(coverage)) console.log(`covered: ${coveredIn(JSON.parse(readFileSync(coverage, 'utf8'))).join('; ')}`)
if (failedSteps.length > 0) console.log(`failed: ${failedSteps.join(', ')}`)
console.log(`finished in ${seconds} s`)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exit(totals.failed > 0 || failedSteps.length > 0 ? 1 : 0)

/** Of each room of `src`, in percent. */
function coveredIn({total: _, ...files}) {
  const rooms = new Map()
  for (const [path, {lines, branches}] of Object.entries(files)) {
    const [, room] = relative(process.cwd(), path).split(/[\\/]/)
    const sum = rooms.get(room) ?? {lines: [0, 0], branches: [0, 0]}
    rooms.set(room, sum)
    for (const [counted, {covered, total}] of [
      [sum.lines, lines],
      [sum.branches, branches],
    ]) {
      counted[0] += covered
      counted[1] += total
    }
  }
  const percent = ([covered, all]) => `${((100 * covered) / Math.max(all, 1)).toFixed(1)} %`
  return [...rooms].map(([room, sum]) => `${room} ${percent(sum.lines)} of lines, ${percent(sum.branches)} of branches`)
}
