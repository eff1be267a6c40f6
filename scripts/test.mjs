// `npm test`: installs what is missing, builds, and runs the tests. Arguments go to vitest: `npm test -- test/config`.
// `npm test -- --changed` runs the tests that stand where the changed files stand, `--changed=main` also those that were
// changed since; the tests that want the built program build it when it is older than its sources.
import {execFileSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {testsNear} from './near-tests.mjs'
import {build, install, root, run} from './prepare.mjs'

const args = process.argv.slice(2)
const since = args.find(it => it === '--changed' || it.startsWith('--changed='))
const near = since === undefined ? undefined : testsNear(changedFiles(since.split('=')[1] ?? 'HEAD'), it => existsSync(join(root, it)))
if (near !== undefined) console.log(`tests: ${near.join(' ')}`)

install()
if (near === undefined) build()
run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...(near ?? []), ...args.filter(it => it !== since)])

/** Since the last commit all have, and what is not committed yet. */
function changedFiles(base) {
  const git = (...words) => execFileSync('git', words, {cwd: root, encoding: 'utf8'}).split('\n')
  const names = [...git('diff', '--name-only', '--merge-base', base), ...git('ls-files', '--others', '--exclude-standard')]
  return [...new Set(names.filter(it => it !== ''))]
}
