// The end of `.ci/run`: the slowest test files, the steps that failed, and one line with the totals.
// Usage: node scripts/count-results.mjs TESTS.json PASSED_STEPS [FAILED_STEP…] --seconds N
import {existsSync, readFileSync} from 'node:fs'
import {relative} from 'node:path'

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
if (failedSteps.length > 0) console.log(`failed: ${failedSteps.join(', ')}`)
console.log(`finished in ${seconds} s`)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exit(totals.failed > 0 || failedSteps.length > 0 ? 1 : 0)
