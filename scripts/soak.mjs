// `npm run soak`: the tests over random worlds again and again, each round with a fresh seed, for as long as there is time.
// `npm run soak -- --minutes 60 --thoroughness 4`, and to see a failure again `npm run soak -- --seed 1234`; further words are
// tests or options of vitest: `npm run soak -- --seed 1234 test/properties/stories.test.ts`.
import {spawnSync} from 'node:child_process'
import {randomInt} from 'node:crypto'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {parseArgs} from 'node:util'
import {build, install, root} from './prepare.mjs'

/** fast-check's seeds have 32 bits. */
const MOST = 2 ** 31

const {values, positionals} = parseArgs({
  options: {
    minutes: {type: 'string', default: '10'},
    seed: {type: 'string'},
    thoroughness: {type: 'string', default: '2'},
  },
  allowPositionals: true,
})
const minutes = numberOf('minutes', values.minutes)
const thoroughness = numberOf('thoroughness', values.thoroughness)
const given = values.seed === undefined ? undefined : numberOf('seed', values.seed)

install()
build()
const tests = positionals.length > 0 ? positionals : seededTests()
const until = Date.now() + minutes * 60_000
const failed = []
let rounds = 0
do {
  const seed = given ?? randomInt(MOST)
  rounds++
  console.log(`\n== round ${rounds}, seed ${seed}`)
  if (!passes(seed)) {
    failed.push(seed)
    console.log(`== seed ${seed}: FAILED; again: ${again(seed)}`)
  }
} while (given === undefined && Date.now() < until)

console.log(`\n${rounds} rounds, ${failed.length} failed`)
for (const seed of failed) console.log(again(seed))
process.exitCode = failed.length > 0 ? 1 : 0

function passes(seed) {
  const {status, error} = spawnSync(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...tests], {
    cwd: root,
    stdio: 'inherit',
    env: {...process.env, SVCCTL_TEST_SEED: String(seed), SVCCTL_TEST_THOROUGHNESS: String(thoroughness)},
  })
  if (error) throw error
  return status === 0
}

/** A person copies this as it stands: the same worlds are as many as before. */
function again(seed) {
  return ['npm run soak --', '--seed', seed, '--thoroughness', thoroughness, ...positionals].join(' ')
}

/** Those that take their seed from outside. */
function seededTests() {
  return readdirSync(join(root, 'test'), {recursive: true, encoding: 'utf8'})
    .filter(it => it.endsWith('.test.ts') && readFileSync(join(root, 'test', it), 'utf8').includes('support/seed.ts'))
    .map(it => join('test', it))
    .toSorted()
}

function numberOf(option, text) {
  const number = Number(text)
  if (/^\d+(\.\d+)?$/.test(text)) return number
  console.error(`--${option} wants a number, not ${text}`)
  process.exit(2)
}
