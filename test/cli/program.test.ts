import {spawn} from 'node:child_process'
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {type Outcome, PROGRAM, type Sandbox, sandbox} from '../support/program.ts'

let here: Sandbox
beforeAll(() => {
  here = sandbox()
})
afterAll(() => here.remove())

const wordsOf = (line: string) => line.split(' ').filter(word => word !== '')
const run = (line: string, env: Record<string, string> = {}): Promise<Outcome> => here.run(wordsOf(line), {env})
/** Where what the build made of it is looked at as well: its version, its help, its parser. */
const built = (line: string, env: Record<string, string> = {}): Promise<Outcome> => here.child(wordsOf(line), {env})
const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

describe('the version', () => {
  it('is printed alone by --version, version and -version', async () => {
    for (const words of ['--version', 'version', '-version', 'version --output text']) {
      expect(await built(words)).toEqual({code: 0, stdout: `${version}\n`, stderr: ''})
    }
  })

  it('is a document with -o json and -o yaml', async () => {
    expect(JSON.parse((await run('version -o json')).stdout)).toMatchObject({version})
    expect((await run('version -o yaml')).stdout).toContain(`version: ${version}`)
  })
})

describe('what -q takes out of a result', () => {
  it('is JSON unless -o says otherwise, and bare with -o text, for a shell to use', async () => {
    expect((await run('version -q version')).stdout).toMatch(/^"\d+\.\d+\.\d+"\n$/)
    expect((await run('version -q version -o text')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('help', () => {
  it('of the program, a topic and a command is on standard output, exit 0', async () => {
    for (const [words, says] of [
      ['', 'usage'],
      ['--help', 'profile'],
      ['help profile', 'profile set'],
      ['profile', 'profile set'],
      ['profile --help', 'validate'],
      ['profile set --help', '--deployment'],
      ['help profile set', '--deployment'],
      ['profile set -h', 'examples'],
    ] as const) {
      const {code, stdout, stderr} = await built(words)
      expect({words, code, stderr}).toEqual({words, code: 0, stderr: ''})
      expect(stdout).toContain(says)
    }
  })

  it('of the program names every first word, and which word may be left out', async () => {
    const {stdout} = await run('--help')
    for (const word of ['api', 'files-key', 'profile', '[enterprise] endpoint', '[enterprise] support-package', '[enterprise] node'])
      expect(stdout).toMatch(new RegExp(`^  ${word.replace(/[[\]]/g, '\\$&')} `, 'm'))
    expect(stdout).toContain('"svcctl node list" is "svcctl enterprise node list"')
  })

  it('of destroy says what its selectors take along, and what a typed hash lifts', async () => {
    const {stdout} = await run('destroy --help')
    const text = stdout.replace(/\s+/g, ' ')
    expect(text).toContain('only this object and what depends on it')
    expect(text).toContain('leave out this object and what it depends on')
    expect(text).not.toMatch(/--no-destroy|--adopt/)
    for (const command of ['apply', 'destroy'])
      expect((await run(`${command} --help`)).stdout.replace(/\s+/g, ' ')).toContain('typing it lifts the guards G_PROTECTED')
  })

  it('has no colours when it does not go to a terminal, unless FORCE_COLOR asks for them', async () => {
    expect((await run('profile set --help')).stdout).not.toContain('\u001b')
    expect((await run('profile set --help', {FORCE_COLOR: '1'})).stdout).toContain('\u001b[1m')
  })
})

describe('an empty list', () => {
  it('is said to people, and is a document to programs', async () => {
    const text = await run('runs list')
    expect([text.code, text.stdout, text.stderr]).toEqual([0, '', 'no runs: they lie in .svcctl/runs beside cdktf.json\n'])
    const yaml = await run('runs list -o yaml')
    expect([yaml.code, yaml.stdout, yaml.stderr]).toEqual([0, '[]\n', ''])
  })
})

describe('a mistake on the command line', () => {
  it.each([
    ['no-such-command', 'E_UNKNOWN_COMMAND', 'unknown command: no-such-command'],
    ['profile lst', 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl profile list'],
    ['prfile', 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl profile'],
    ['databases', 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl cloud databases'],
    ['acl rules', 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl cloud acl rules'],
    ['cloud databses', 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl cloud databases'],
    ['enterprise foo', 'E_UNKNOWN_COMMAND', 'unknown command: enterprise foo (E_UNKNOWN_COMMAND)\n  > See all'],
    ['help nothing', 'E_UNKNOWN_COMMAND', 'unknown command: nothing'],
    ['profile list --outptu json', 'E_UNKNOWN_OPTION', 'Did you mean --output?'],
    ['profile list --no-such', 'E_UNKNOWN_OPTION', '--no-such'],
    ['profile show', 'E_MISSING_ARGUMENT', 'missing required argument: NAME'],
    ['profile show a b', 'E_USAGE', '1 argument too many'],
    ['version --query', 'E_USAGE', '--query needs a value (E_USAGE)\n  > See how it is used: svcctl version --help'],
    ['task list -o -v', 'E_USAGE', '--output needs a value, one of: json'],
    ['task list --limit 0', 'E_USAGE', '--limit: a whole number from 1 up is needed (E_USAGE)\n  > See how it is used'],
    ['task list --rate=-1', 'E_USAGE', '--rate: a number above zero is needed (E_USAGE)\n  > See how it is used'],
    ['task list --rate 1 --rate=2', 'E_USAGE', '--rate is given 2 times (E_USAGE)\n  > Give it once.'],
    ['module upload', 'E_MISSING_ARGUMENT', 'missing required option: --file'],
    ['apply --resume --attach r1', 'E_USAGE', '--resume and --attach exclude each other (E_USAGE)\n  > Leave one of them out.'],
    ['api cloud get / --curl --dry-run', 'E_USAGE', '--curl and --dry-run exclude each other (E_USAGE)\n  > Leave one of them out.'],
    ['version -q a[', 'E_QUERY_SYNTAX', 'at character 3'],
    ['--url https://x node list', 'E_USAGE', '--url stands where the command should be'],
    ['-V', 'E_USAGE', '  > Put it behind the command: svcctl <command> -V …'],
    ['profile --frobnicate', 'E_USAGE', '--frobnicate stands where'],
    ['task list --poll-interval 0', 'E_USAGE', '--poll-interval: a length of time above zero is needed'],
    ['version --query=', 'E_QUERY_SYNTAX', 'the query (-q) is empty (E_QUERY_SYNTAX)'],
    ['profile set p --deployment cloud --api-key=', 'E_USAGE', '--api-key is empty'],
    ['profile set p --deployment moon', 'E_USAGE', 'cloud, enterprise'],
    ['files-key set k --global --use-keyring', 'E_USAGE', '--use-keyring and --global exclude each other'],
    ['files-key remove', 'E_USAGE', '--keyring, --global or --profile'],
    ['profile set p --deployment enterprize', 'E_USAGE', 'Did you mean --deployment enterprise?'],
    ['profile list -o jsno', 'E_USAGE', 'Did you mean --output json?'],
    ['completion tcsh', 'E_USAGE', 'SHELL is one of: bash'],
  ])('%s is exit 64, told to people on standard error and to programs as one document', async (words, code, says) => {
    const text = await built(words)
    expect(text.code).toBe(64)
    expect(text.stdout).toBe('')
    expect(text.stderr).toContain(says)
    expect(text.stderr).toContain(code)
    const json = await run(`${words} --json`)
    expect(json.code).toBe(64)
    expect(JSON.parse(json.stdout).error.code).toBe(code)
    expect(json.stderr).toContain(says)
  })

  it('is told in colours where FORCE_COLOR asks for them, and without elsewhere', async () => {
    expect((await run('prfile', {FORCE_COLOR: '1'})).stderr).toContain('\u001b[31m')
    expect((await run('prfile', {NO_COLOR: '1'})).stderr).not.toContain('\u001b')
  })

  it('never repeats what may be a secret', async () => {
    for (const words of [
      'profile set p --deployment cloud --api-secert=hunter2-x',
      'profile set p hunter2-x --deployment cloud',
      'profile set p --api-secret hunter2-x --api-secret hunter2-x',
      'files-key set hunter2-x hunter2-x',
      'profile set p --deployment cloud --api-key hunter2-x --mode hunter2-x',
    ]) {
      const {code, stdout, stderr} = await run(`${words} -o json -vv`)
      expect(code).toBe(64)
      expect(stdout + stderr).not.toContain('hunter2')
    }
  })

  it('in the output format itself names the formats', async () => {
    const {code, stderr} = await run('version --output xml')
    expect(code).toBe(64)
    expect(stderr).toContain('json, yaml, table, text')
  })

  it('is a YAML document with -o yaml', async () => {
    expect((await run('profile show nobody -o yaml')).stdout).toContain('code: E_PROFILE_UNKNOWN')
  })
})

describe('the environment', () => {
  it('with a value nobody can understand is exit 64', async () => {
    const {code, stderr} = await built('version', {SVC_LOG: 'loud'})
    expect(code).toBe(64)
    expect(stderr).toContain('SVC_LOG')
  })
})

describe('a reader that goes away', () => {
  it('is no error', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'completion', 'bash'], {env: here.env, stdio: ['ignore', 'pipe', 'pipe']})
    let stderr = ''
    child.stdout.destroy()
    child.stderr.on('data', part => {
      stderr += part
    })
    const code = await new Promise(resolve => child.on('close', resolve))
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
  })
})

describe('a configuration that others can read', () => {
  it('is said on standard error, and the command works', async () => {
    mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
    writeFileSync(here.configFile, '[profiles.a]\ndeployment_type = "cloud"\n', {mode: 0o640})
    const {code, stdout, stderr} = await run('profile list -o json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveLength(1)
    expect(stderr).toBe(`warning: ${here.configFile} has mode 0640, wider than 0600: close it with "svcctl profile validate --fix"\n`)
  })

  it('is none where it is a device: /dev/null holds no profiles, and nobody is told to close it', async () => {
    const {code, stdout, stderr} = await here.run(['profile', 'list', '-o', 'json'], {env: {SVC_CONFIG_FILE: '/dev/null'}})
    expect({code, stdout}).toEqual({code: 0, stdout: '[]\n'})
    expect(stderr).not.toContain('warning')
  })
})

describe('completion', () => {
  let completion = ''
  beforeAll(async () => {
    completion = (await built('completion bash')).stdout
  })
  const complete = (cwd: string, words: readonly string[]): Promise<string> => {
    const script = `svcctl() { node ${PROGRAM} "$@"; }
${completion}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _svcctl; echo "\${COMPREPLY[*]}"`
    const child = spawn('bash', ['-c', script, 'bash', 'svcctl', ...words], {env: here.env, cwd})
    let stdout = ''
    child.stdout.on('data', part => {
      stdout += part
    })
    return new Promise((resolve, reject) => child.on('error', reject).on('close', () => resolve(stdout.trim())))
  }

  it('in bash offers commands, options, fixed values and profiles', async () => {
    const at = (...words: string[]) => complete(here.folder, words)
    expect(await at('prof')).toBe('profile')
    expect(await at('profile', 's')).toBe('set show')
    expect(await at('profile', 'set', 'x', '--deployment', '')).toBe('cloud enterprise')
    expect(await at('profile', 'set', 'x', '--api-u')).toBe('--api-url')
    expect(await at('profile', 'list', '-o', 'y')).toBe('yaml')
    expect(await at('profile', 'show', '')).toContain('a')
  })

  it('knows stacks and addresses from ledgers and from the last synth', async () => {
    writeFileSync(join(here.folder, 'cdktf.json'), '{}')
    writeFileSync(join(here.folder, 'terraform.shop.tfstate'), JSON.stringify({resources: [{type: 'null_resource', name: 'cache'}]}))
    mkdirSync(join(here.folder, 'cdktf.out', 'stacks', 'web'), {recursive: true})
    writeFileSync(
      join(here.folder, 'cdktf.out', 'manifest.json'),
      JSON.stringify({stacks: {web: {synthesizedStackPath: 'stacks/web/cdk.tf.json'}}}),
    )
    writeFileSync(join(here.folder, 'cdktf.out', 'stacks', 'web', 'cdk.tf.json'), JSON.stringify({resource: {null_resource: {front: {}}}}))
    expect((await run('completion --values stacks')).stdout).toBe('shop\nweb\n')
    expect((await run('completion --values addresses')).stdout).toBe('null_resource.cache\nnull_resource.front\n')
  })

  it('offers the instances of for_each and count, quoted as the shell reads them, and the runs, newest first', async () => {
    const folder = join(here.folder, 'instances')
    mkdirSync(join(folder, '.svcctl', 'runs'), {recursive: true})
    writeFileSync(join(folder, 'cdktf.json'), '{}')
    const instances = [{index_key: 'eu west'}, {index_key: "o'neil"}]
    const resources = [
      {type: 'null_resource', name: 'cache', instances},
      {type: 'null_resource', name: 'one', instances: [{}]},
    ]
    writeFileSync(join(folder, 'terraform.shop.tfstate'), JSON.stringify({resources}))
    mkdirSync(join(folder, 'cdktf.out'))
    writeFileSync(join(folder, 'cdktf.out', 'manifest.json'), JSON.stringify({stacks: {web: {synthesizedStackPath: 'web.tf.json'}}}))
    const declared = {front: {count: 2}, rules: {for_each: {admin: 1}}, computed: {for_each: '${toset(["a"])}'}}
    writeFileSync(join(folder, 'cdktf.out', 'web.tf.json'), JSON.stringify({resource: {null_resource: declared}}))
    expect((await here.run(['completion', '--values', 'addresses'], {cwd: folder})).stdout.trim().split('\n')).toEqual([
      'null_resource.cache',
      'null_resource.cache["eu west"]',
      'null_resource.cache["o\'neil"]',
      'null_resource.computed',
      'null_resource.front',
      'null_resource.front[0]',
      'null_resource.front[1]',
      'null_resource.one',
      'null_resource.rules',
      'null_resource.rules["admin"]',
    ])
    const at = (...words: string[]) => complete(folder, words)
    expect(await at('plan', '--target', 'null_resource.front')).toBe(
      'null_resource.front null_resource.front\\[0\\] null_resource.front\\[1\\]',
    )
    expect(await at('plan', '--target', 'null_resource.rules\\[')).toBe('null_resource.rules\\[\\"admin\\"\\]')
    expect(await at('plan', '--target', "'null_resource.cache[")).toBe(
      `'null_resource.cache["eu west"]' 'null_resource.cache["o'\\''neil"]'`,
    )

    const runs = ['20260401T093012345-1a2b3c', '20260402T093012345-1a2b3c']
    for (const run of runs) writeFileSync(join(folder, '.svcctl', 'runs', `${run}.jsonl`), '')
    expect(await at('runs', 'show', '')).toContain(`${runs[1]} ${runs[0]}`)
    expect(await at('apply', '--attach', '202604')).toBe(`${runs[1]} ${runs[0]}`)
  })
})
