/** Completion as the shells themselves answer it. */
import {spawnSync} from 'node:child_process'
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {PROGRAM, type Sandbox, sandbox} from '../support/program.ts'
import {lacks} from '../support/tools.ts'

let here: Sandbox
beforeAll(async () => {
  here = sandbox()
  await here.run(['profile', 'set', 'lab', '--deployment', 'enterprise', '--url', 'https://127.0.0.1:9443'])
  const resources = [{type: 'null_resource', name: 'cache', instances: [{index_key: 'eu west'}]}]
  writeFileSync(join(here.folder, 'terraform.shop.tfstate'), JSON.stringify({resources}))
})
afterAll(() => here.remove())

const shell = (program: string, args: readonly string[]): string => {
  const {stdout, stderr, status} = spawnSync(program, args, {env: {...here.env, TERM: 'dumb'}, cwd: here.folder, encoding: 'utf8'})
  expect({status, stderr}).toEqual({status: 0, stderr: ''})
  return stdout
}

describe('names that whoever wrote a repository has chosen', () => {
  const index = 'k"$(touch pwned)`touch pwned`\u2019; touch pwned; \u2019'
  const name = `null_resource.cache["${index.replaceAll('"', '\\"')}"]`
  let folder: string
  let completion = ''
  beforeAll(async () => {
    completion = (await here.run(['completion', 'bash'])).stdout
    folder = join(here.folder, 'hostile')
    mkdirSync(folder)
    writeFileSync(join(folder, 'cdktf.json'), '{}')
    writeFileSync(join(folder, 'vars$(touch pwned).json'), '{}')
    const instances = [{index_key: index}]
    const unseen = {type: 'null_resource', name: 'cache\tx$(touch pwned)', instances: []}
    writeFileSync(
      join(folder, 'terraform.shop.tfstate'),
      JSON.stringify({resources: [{type: 'null_resource', name: 'cache', instances}, unseen]}),
    )
  })

  /** What bash has as the last word of a line once it was completed, and run. */
  const completed = (typed: string, ...words: readonly string[]): string[] => {
    const script = `svcctl() { node ${PROGRAM} "$@"; }
${completion}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _svcctl
for word in "\${COMPREPLY[@]}"; do eval "set -- $word"; printf '%s\\n' "$@"; done`
    const {stdout} = spawnSync('bash', ['-c', script, 'bash', 'svcctl', ...words, typed], {env: here.env, cwd: folder, encoding: 'utf8'})
    return stdout.split('\n').slice(0, -1)
  }

  it.each(['', '"', "'", 'null_resource.cache\\[', '"null', "'null"])(
    'are what bash inserts for %j, as one word that runs nothing',
    typed => {
      const names = typed.includes('[') ? [name] : ['null_resource.cache', name]
      expect(completed(typed, 'plan', '--target')).toEqual(names)
      expect(readdirSync(folder)).not.toContain('pwned')
    },
  )

  it('are for readline to quote where they are files', () => {
    expect(completed('vars', 'plan', '--var-file')).toEqual([])
    expect(readdirSync(folder)).not.toContain('pwned')
  })

  it('end no quote of PowerShell', async () => {
    const {stdout} = await here.run(['completion', 'powershell'])
    expect(stdout).toContain(`[regex]::Replace($_, "['\\u2018-\\u201b]", '$0$0')`)
    expect(stdout).toContain("-match '^[A-Za-z][-\\w./:]*$'")
  })
})

describe.skipIf(lacks('completion in fish', 'fish'))('completion in fish', () => {
  const complete = (line: string): string[] => {
    const script = `function svcctl; node ${PROGRAM} $argv; end; svcctl completion fish | source; complete -C '${line}'`
    return shell('fish', ['--no-config', '-c', script])
      .trim()
      .split('\n')
      .map(it => it.split('\t')[0] ?? '')
  }

  it('offers commands, options, fixed values, arguments and profiles', () => {
    expect(complete('svcctl prof')).toEqual(['profile'])
    expect(complete('svcctl profile s')).toEqual(['set', 'show'])
    expect(complete('svcctl profile list -o y')).toEqual(['yaml'])
    expect(complete('svcctl api ')).toEqual(expect.arrayContaining(['cloud', 'enterprise']))
    expect(complete('svcctl api cloud p')).toEqual(['patch', 'post', 'put'])
    expect(complete('svcctl node list --profile ')).toEqual(['lab'])
    for (const option of ['target', 'exclude', 'allow-destroy', 'adopt', 'accept'])
      expect(complete(`svcctl plan --${option} `), option).toEqual(['null_resource.cache', 'null_resource.cache["eu west"]'])
  })
})

describe.skipIf(lacks('completion in zsh', 'zsh'))('completion in zsh', () => {
  it('asks the same of the script: commands, fixed values and profiles reach the shell', () => {
    const script = `
svcctl() { node ${PROGRAM} "$@" }
compdef() { }
_describe() { local -a all; all=("\${(@P)4}"); print -rl -- "\${(@)all%%:*}" }
compadd() { shift; print -rl -- "$@" }
eval "$(svcctl completion zsh)"
at() { words=("$@"); CURRENT=$#; PREFIX="\${@[-1]}"; _svcctl; print -- -- }
at svcctl profile ''
at svcctl profile list -o ''
at svcctl node list --profile ''
at svcctl api cloud ''
at svcctl plan --target ''`
    const answers = shell('zsh', ['-f', '-c', script])
      .split('--\n')
      .map(it => it.trim().split('\n'))
    expect(answers[0]).toEqual(expect.arrayContaining(['set', 'show', 'list']))
    expect(answers[1]).toEqual(['json', 'yaml', 'table', 'text'])
    expect(answers[2]).toEqual(['lab'])
    expect(answers[4]).toEqual(['null_resource.cache', 'null_resource.cache["eu west"]'])
    expect(answers[3]).toEqual(['get', 'post', 'put', 'patch', 'delete'])
  })
})

describe.skipIf(lacks('completion in PowerShell', 'pwsh'))('completion in PowerShell', () => {
  it('offers commands, fixed values, profiles, and addresses in quotes', () => {
    const script = `
function svcctl { node '${PROGRAM}' @args }
svcctl completion powershell | Out-String | Invoke-Expression
foreach ($line in 'svcctl prof', 'svcctl profile list -o y', 'svcctl node list --profile ', 'svcctl plan --target ') {
  ([System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches.CompletionText) -join ','
}`
    expect(shell('pwsh', ['-NoProfile', '-NonInteractive', '-Command', script]).trim().split('\n')).toEqual([
      'profile',
      'yaml',
      'lab',
      `null_resource.cache,'null_resource.cache["eu west"]'`,
    ])
  })
})
