import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {AppError} from '../../../src/base/errors.ts'
import {type LoadOptions, loadDeclarations, selectStacks} from '../../../src/declaration/read/load.ts'
import {stackJson} from './read-stack.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'declaration-'))
})
afterEach(() => rm(cwd, {recursive: true, force: true}))

async function put(files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), {recursive: true})
    await writeFile(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

const load = (options: Partial<LoadOptions> = {}) =>
  loadDeclarations({cwd, environment: {PATH: process.env.PATH}, kinds, mode: 'plan', ...options})

const failure = async (options: Partial<LoadOptions> = {}): Promise<AppError> => {
  try {
    await load(options)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing failed')
}

const user = (name: string) => stackJson({objects: {u: ['cluster.user', {name}]}})
const addresses = async (options: Partial<LoadOptions>) =>
  (await load(options)).stacks.flatMap(stack => stack.declarations.map(it => `${it.key} ${it.spec.name}`))

describe('a folder given by --synth-dir', () => {
  it('of one stack is called after the folder', async () => {
    await put({'synth/shop/cdk.tf.json': user('a')})
    expect(await addresses({synthDir: 'synth/shop'})).toEqual(['shop:null_resource.u a'])
  })

  it('of several folders of stacks gives one stack each, with or without stacks/ in between', async () => {
    await put({'synth/b/cdk.tf.json': user('b'), 'synth/a/main.tf.json': user('a'), 'synth/notes/readme.txt': ''})
    await put({'out/stacks/c/cdk.tf.json': user('c')})
    expect(await addresses({synthDir: 'synth'})).toEqual(['a:null_resource.u a', 'b:null_resource.u b'])
    expect(await addresses({synthDir: 'out'})).toEqual(['c:null_resource.u c'])
  })

  it('of a manifest stays in its folder, whatever the manifest names: stacks and their files', async () => {
    const manifest = (name: string, path: string) => ({stacks: {x: {name, synthesizedStackPath: path}}})
    await put({'out/manifest.json': manifest('../../evil', 'x.tf.json'), 'out/x.tf.json': {}, 'x.tf.json': {}})
    await expect(load({synthDir: 'out'})).rejects.toMatchObject({code: 'E_NAME_IN_PATH', exit: 64})
    // Else `--stack '*'` would mean that one, and leave out all others.
    await put({'out/manifest.json': manifest('*', 'x.tf.json')})
    await expect(load({synthDir: 'out'})).rejects.toMatchObject({code: 'E_NAME_IN_PATH', exit: 64})
    await put({'out/manifest.json': manifest('shop', '../x.tf.json')})
    await expect(load({synthDir: 'out'})).rejects.toMatchObject({
      code: 'E_STACK_FILE',
      message: expect.stringContaining('outside of its folder'),
    })
  })

  it('of a synthesized app is read by its manifest alone', async () => {
    const stack = {
      name: 'shop',
      synthesizedStackPath: 'stacks/shop/cdk.tf.json',
      annotations: [{level: '@cdktf/warn', message: 'careful', constructPath: 'shop/u'}],
    }
    await put({
      'out/manifest.json': {stacks: {shop: stack}},
      'out/stacks/shop/cdk.tf.json': user('a'),
      'out/stacks/left-over/cdk.tf.json': user('b'),
    })
    const loaded = await load({synthDir: 'out'})
    expect(loaded.stacks.map(({name}) => name)).toEqual(['shop'])
    expect(loaded.warnings).toEqual(['shop/u: careful'])
  })

  it('of several files is one stack, with overrides laid over it as Terraform does', async () => {
    await put({
      's/a.tf.json': stackJson({objects: {u: ['cluster.user', {name: 'a'}, {}, {lifecycle: {prevent_destroy: true}}]}}),
      's/b.tf.json': stackJson({objects: {v: ['cluster.user', {}, {'spec/name': '${local.n}'}]}, locals: {n: 'from-locals'}}),
      's/u_override.tf.json': stackJson({objects: {u: ['cluster.user', {name: 'over'}, {}, {lifecycle: {ignore_changes: 'all'}}]}}),
    })
    const {stacks} = await load({synthDir: 's'})
    expect(stacks[0]?.declarations.map(it => it.spec.name)).toEqual(['over', 'from-locals'])
    expect(stacks[0]?.declarations[0]?.policy).toMatchObject({preventDestroy: true, ignoreChanges: ['']})
  })

  it('with one address in two files, or twice in one, names both places', async () => {
    await put({
      's/a.tf.json': user('a'),
      's/b.tf.json': user('b'),
      's/c.tf.json':
        '{"resource": {"null_resource": {\n  "w": {"triggers": {"kind": "cluster.policy"}},\n  "w": {"triggers": {"kind": "cluster.policy"}}\n}}}',
    })
    const {problems, exit} = await failure({synthDir: 's'})
    expect(exit).toBe(64)
    expect(problems).toEqual([
      {
        address: 'null_resource.u',
        message: 'null_resource.u is declared twice, first at s/a.tf.json:4: give one of them another name',
        source: 's/b.tf.json:4',
      },
      {
        address: 'null_resource.w',
        message: 'resource.null_resource has "w" twice, and JSON would keep the last only: give one of them another name',
        source: 's/c.tf.json:3',
      },
    ])
  })

  it('with JSON that does not parse names the line', async () => {
    await put({'s/a.tf.json': '{\n  "resource": {,}\n}'})
    const error = await failure({synthDir: 's'})
    expect(error.message).toBe('s/a.tf.json:2: a key in quotes is expected')
    expect(error.exit).toBe(64)
  })

  it('with objects in HCL is refused, because what is not read might be deleted', async () => {
    await put({'s/a.tf.json': user('a'), 's/b.tf': 'resource "null_resource" "x" {}\n'})
    expect((await failure({synthDir: 's'})).message).toBe('s/b.tf: declares things in HCL, and svcctl reads Terraform JSON only')
    await put({'t/a.tf.json': user('a'), 't/versions.tf': 'terraform {}\n'})
    expect((await load({synthDir: 't'})).warnings).toEqual(['t/versions.tf is HCL and was not read; it declares nothing svcctl looks at'])
  })

  it('that is empty or not there says what to name', async () => {
    await put({'e/readme.txt': ''})
    expect(await failure({synthDir: 'e'})).toMatchObject({code: 'E_NO_STACKS', exit: 64})
    expect(await failure({synthDir: 'nowhere'})).toMatchObject({code: 'E_NO_STACKS', message: 'the folder nowhere cannot be read'})
  })
})

describe('stacks chosen by name', () => {
  it('may be names or globs, and an unknown one names the known', () => {
    const known = ['shop', 'shop-eu', 'edge']
    expect([...selectStacks(known, [])]).toEqual(known)
    expect([...selectStacks(known, ['shop*'])]).toEqual(['shop', 'shop-eu'])
    expect([...selectStacks(known, ['edge', 'shop-??'])]).toEqual(['edge', 'shop-eu'])
    expect(() => selectStacks(known, ['shp'])).toThrow(
      expect.objectContaining({
        exit: 64,
        message: 'no stack is called "shp"',
        suggestions: ['Did you mean --stack shop? The stacks are: shop, shop-eu, edge.'],
      }),
    )
  })

  it('leave the others declared', async () => {
    await put({'synth/b/cdk.tf.json': user('b'), 'synth/a/cdk.tf.json': user('a')})
    const {stacks, others} = await load({synthDir: 'synth', stacks: ['a']})
    expect([stacks, others].map(list => list.map(({name}) => name))).toEqual([['a'], ['b']])
  })
})

describe('files of values', () => {
  const text = stackJson({variable: {x: {type: 'string'}}, objects: {u: ['cluster.user', {}, {'spec/name': '${var.x}'}]}})

  it('are found beside the project, in either form', async () => {
    await put({'s/a.tf.json': text, 'terraform.tfvars': '# comment\nx = "hcl"\n'})
    expect(await addresses({synthDir: 's'})).toEqual(['s:null_resource.u hcl'])
    await put({'terraform.tfvars.json': {x: 'json'}})
    expect(await addresses({synthDir: 's'})).toEqual(['s:null_resource.u json'])
    await put({'b.auto.tfvars.json': {x: 'auto'}, 'extra.json': {x: 'extra'}})
    expect(await addresses({synthDir: 's'})).toEqual(['s:null_resource.u auto'])
    expect(await addresses({synthDir: 's', variables: [{type: 'file', path: 'extra.json'}]})).toEqual(['s:null_resource.u extra'])
  })

  it('have a bound, all files together', async () => {
    const blanks = `{${' '.repeat(900_000)}}\n`
    await put({'s/a.tf.json': text, ...Object.fromEntries(Array.from({length: 20}, (_, at) => [`${at}.auto.tfvars.json`, blanks]))})
    expect(await failure({synthDir: 's'})).toMatchObject({
      exit: 64,
      message: expect.stringMatching(/^\d+\.auto\.tfvars\.json: with this file the files of variables have more than 16(\.0)? MiB$/),
    })
  })

  it('that cannot be read name file and line, and never a value', async () => {
    await put({'s/a.tf.json': text, 'v.json': '{\n"x": hunter2}', 'v.tfvars': 'y = 1\nx = hunter2(\n'})
    const json = await failure({synthDir: 's', variables: [{type: 'file', path: 'v.json'}]})
    const hcl = await failure({synthDir: 's', variables: [{type: 'file', path: 'v.tfvars'}]})
    expect([json.message, hcl.message]).toEqual(['v.json:2: a value is expected', 'v.tfvars:3: cannot be read as "name = value" lines'])
    expect(await failure({synthDir: 's', variables: [{type: 'file', path: 'none.json'}]})).toMatchObject({
      exit: 64,
      message: 'none.json: cannot be read',
    })
  })
})

describe('the app of cdktf.json', () => {
  const app = (body: string) => `
    const {mkdirSync, writeFileSync} = require('node:fs')
    const out = process.env.CDKTF_OUTDIR
    const stack = (name, body, annotations = []) => {
      mkdirSync(out + '/stacks/' + name, {recursive: true})
      writeFileSync(out + '/stacks/' + name + '/cdk.tf.json', JSON.stringify(body))
      return {name, synthesizedStackPath: 'stacks/' + name + '/cdk.tf.json', annotations}
    }
    const manifest = stacks => writeFileSync(out + '/manifest.json', JSON.stringify({stacks}))
    const user = name => ({resource: {null_resource: {u: {triggers: {kind: 'cluster.user', spec: JSON.stringify({name})}}}}})
    ${body}`
  const project = (body: string, more = {}) => put({'cdktf.json': {app: 'node app.cjs', ...more}, 'app.cjs': app(body)})

  it('is run into a folder that is gone afterwards, with the context and without credentials', async () => {
    await project("manifest({a: stack('a', user('a'))}); writeFileSync('seen.json', JSON.stringify(process.env))", {context: {k: 'v'}})
    const environment = {
      PATH: process.env.PATH,
      SVC_CLOUD_API_KEY: 'k',
      SVC_PROFILE: 'p',
      TF_VAR_pw: 'w',
      TF_HTTP_PASSWORD: 'h',
      TF_HTTP_ADDRESS: 'https://state',
      TF_TOKEN_app_terraform_io: 't',
      PROD_SECRET: 'a reference of the configuration file',
      HTTPS_PROXY: 'http://u:p@proxy',
      NODE_AUTH_TOKEN: 'n',
      NODE_ENV: 'test',
      LC_ALL: 'C.UTF-8',
    }
    const {stacks} = await load({environment})
    expect(stacks[0]?.declarations[0]).toMatchObject({key: 'a:null_resource.u', source: {}})
    const seen = JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8'))
    expect(seen).toMatchObject({
      CDKTF_CONTEXT_JSON: '{"k":"v"}',
      SYNTH_HCL_OUTPUT: 'false',
      CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: 'true',
      NODE_ENV: 'test',
      LC_ALL: 'C.UTF-8',
    })
    // A shell adds some of its own.
    const own = ['PWD', 'OLDPWD', 'SHLVL', '_']
    const given = [
      'CDKTF_CONTEXT_JSON',
      'CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS',
      'CDKTF_OUTDIR',
      'LC_ALL',
      'NODE_ENV',
      'PATH',
      'SYNTH_HCL_OUTPUT',
    ]
    expect(
      Object.keys(seen)
        .filter(name => !own.includes(name))
        .sort(),
    ).toEqual(given)
    await expect(readdir(seen.CDKTF_OUTDIR)).rejects.toThrow('ENOENT')
  })

  it('gets what cdktf.json and the caller name, and cdktf.json names no credential', async () => {
    const body = "manifest({a: stack('a', user('a'))}); writeFileSync('seen.json', JSON.stringify(process.env))"
    const environment = {PATH: process.env.PATH, GIT_BRANCH: 'main', TF_VAR_shape: 'wide', TF_VAR_pw: 'w', PROD_SECRET: 's'}
    await project(body, {svcctl: {environment: ['GIT_BRANCH']}})
    const told: string[][] = []
    await load({environment, synthEnvironment: ['TF_VAR_s*'], onApp: passed => told.push(Object.keys(passed))})
    const seen = JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8'))
    expect(seen).toMatchObject({GIT_BRANCH: 'main', TF_VAR_shape: 'wide'})
    expect([seen.TF_VAR_pw, seen.PROD_SECRET]).toEqual([undefined, undefined])
    expect(told).toEqual([['PATH', 'GIT_BRANCH', 'TF_VAR_shape']])
  })

  it.each([
    'PROD_SECRET SVC_PROFILE TF_VAR_pw * DB_PASSWORD API_KEY HTTPS_PROXY http_proxy MYSQL_PWD CI_JOB_JWT CI_JOB_JWT_V2 GITLAB_PAT SENTRY_DSN',
  ])('gets none of these because cdktf.json names it: %s', async names => {
    const environment = {PATH: process.env.PATH}
    for (const name of names.split(' ')) {
      await project("manifest({a: stack('a', user('a'))})", {svcctl: {environment: [name]}})
      expect(await failure({environment}), name).toMatchObject({
        code: 'E_STACK_FILE',
        suggestions: [expect.stringContaining('--synth-env')],
      })
    }
  })

  it.each([
    ['a password in an address', 'postgres://app:pw@db.example/x'],
    ['one with a slash in it', 'see mysql://app:p/w@db.example'],
    ['a token in the place of a user', 'https://abcdef@git.example/x.git'],
    ['a token of a query', 'https://hooks.example/x?access_token=abc'],
    ['a password among settings', 'Server=db;Password=abc;'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nabc\n'],
    ['what the run knows to be secret', 'the hush-hush of it'],
  ])('gets no value because cdktf.json names it that has in it %s, and gets it from --synth-env', async (_, value) => {
    await project("manifest({a: stack('a', user('a'))}); writeFileSync('seen.json', JSON.stringify(process.env))", {
      svcctl: {environment: ['DATABASE']},
    })
    const options = {
      environment: {PATH: process.env.PATH, DATABASE: value, NODE_DATABASE: 'postgres://app:pw@db.example/x'},
      holdsSecret: (text: string) => text.includes('hush'),
    }
    const error = await failure(options)
    expect(error).toMatchObject({code: 'E_STACK_FILE', suggestions: [expect.stringContaining('--synth-env DATABASE')]})
    expect(error.message).not.toContain(value)
    await load({...options, synthEnvironment: ['DATABASE']})
    const seen = JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8'))
    expect([seen.DATABASE, seen.NODE_DATABASE]).toEqual([value, undefined])
  })

  it.each([
    ['an address', 'http://proxy.example:3128/@scope/package'],
    ['a user who is no token', 'ssh://git@git.example/x.git'],
    ['an image', 'registry.example/app:1.2@sha256:0123'],
    ['a branch', 'main'],
  ])('gets %s that cdktf.json names', async (_, value) => {
    await project("manifest({a: stack('a', user('a'))}); writeFileSync('seen.json', JSON.stringify(process.env))", {
      svcctl: {environment: ['PLACE', 'PWD']},
    })
    await load({environment: {PATH: process.env.PATH, PLACE: value}})
    expect(JSON.parse(await readFile(join(cwd, 'seen.json'), 'utf8')).PLACE).toBe(value)
  })

  it('may warn and refuse through annotations, said with all other problems', async () => {
    await project(`
      const trace = ['Annotations.addMessage (/x/node_modules/cdktf/lib/annotations.ts:77:21)', 'new A (' + process.cwd() + '/main.ts:19:69)']
      manifest({a: stack('a', {resource: {null_resource: {u: {triggers: {kind: 'nope'}}}}}, [
        {level: '@cdktf/error', message: 'too small', constructPath: 'a/u', stacktrace: trace}])})`)
    const {problems, exit} = await failure()
    expect(exit).toBe(64)
    expect(problems?.map(({message, source}) => [message.slice(0, 24), source])).toEqual([
      ['too small', 'main.ts:19 (a/u)'],
      ['there is no kind "nope";', undefined],
    ])
  })

  it('that fails is shown with the end of what it said', async () => {
    await project("console.error('one\\ntwo'); process.exit(3)")
    const error = await failure()
    expect(error).toMatchObject({code: 'E_SYNTH', exit: 64, message: 'the app of cdktf.json failed (exit 3): node app.cjs\none\ntwo'})
    expect(error.suggestions).toEqual([`Run it by hand to see more: (cd ${cwd} && node app.cjs)`])
  })

  it.each([
    [
      'throws',
      "function deep() { throw new Error('no region is configured') }\ndeep()",
      /^app\.cjs:\d+: no region is configured\nThe app of cdktf\.json failed with this error \(exit 1\): node app\.cjs$/,
    ],
    [
      'misses a module',
      "require('./not-there')",
      /^app\.cjs:\d+: Cannot find module '\.\/not-there'\nRequire stack:\n- app\.cjs\nThe app of/,
    ],
    ['has a syntax error', 'const x = {', /^SyntaxError: Unexpected token '\)'|^SyntaxError: Unexpected end of input|^SyntaxError: /],
    [
      'says much more after its error',
      "console.error(new TypeError('the first word').stack); for (let i = 0; i < 20000; i++) console.error('noise ' + i); process.exit(1)",
      /^app\.cjs:\d+: TypeError: the first word\nThe app of/,
    ],
    [
      'fails in Python',
      "console.error('Traceback (most recent call last):\\n  File \"main.py\", line 1, in <module>\\nModuleNotFoundError: No module named \\'cdktf\\''); process.exit(1)",
      /^ModuleNotFoundError: No module named 'cdktf'\nThe app of/,
    ],
    [
      'speaks on standard output only',
      "console.log('no region'); process.exit(1)",
      /^the app of cdktf\.json failed \(exit 1\): node app\.cjs\nno region$/,
    ],
    ['says nothing', 'process.exit(1)', /^the app of cdktf\.json failed \(exit 1\): node app\.cjs\nIt wrote nothing about why\.$/],
    ['is killed', "process.kill(process.pid, 'SIGKILL')", /^the app of cdktf\.json failed \(.*\): node app\.cjs/],
  ])('that %s is shown with its own error first', async (_, body, message) => {
    await project(body)
    const error = await failure()
    expect(error.code).toBe('E_SYNTH')
    expect(error.message).toMatch(message)
    expect(error.message).not.toMatch(/^ +at |node:internal/m)
  })

  it('that breaks a rule of our constructs is shown with that rule, its place and what to do', async () => {
    await put({
      'cdktf.json': {app: `${process.execPath} --import ${import.meta.resolve('tsx')} app.ts`},
      'app.ts': `
        import {App, TerraformStack} from '${import.meta.resolve('cdktf')}'
        import {ClusterUser} from '${new URL('../../../src/index.ts', import.meta.url).href}'
        const app = new App()
        const stack = new TerraformStack(app, 'shop')
        new ClusterUser(stack, 'u', {
          name: 'u', role: Number.NaN as never,
        })
        app.synth()`,
    })
    const error = await failure({environment: {PATH: process.env.PATH}})
    expect(error.message).toBe('app.ts:6: shop/u: /role is NaN')
    expect(error.suggestions).toEqual(['Use a finite number, or leave the field out.'])
  })

  it('that writes nothing is told to end with app.synth()', async () => {
    await project('')
    expect(await failure()).toMatchObject({code: 'E_SYNTH', exit: 64, suggestions: ['End the program with app.synth().']})
  })

  it('that has no stacks is said so', async () => {
    await project('manifest({})')
    expect(await failure()).toMatchObject({code: 'E_NO_STACKS', exit: 64, message: 'the app has no stacks'})
  })

  it.runIf(process.platform === 'linux')('that gets more than the system takes is told what to shorten', async () => {
    await project('manifest({})')
    await put({'cdktf.json': {app: 'node app.cjs', context: {a: 'x'.repeat(200_000)}}})
    expect(await failure()).toMatchObject({
      code: 'E_SYNTH',
      exit: 64,
      suggestions: ['Shorten app and context in cdktf.json; the app can read what is long from a file.'],
    })
  })

  it('is stopped with everything it started when the command is', async () => {
    await project("require('node:child_process').execSync('echo started >&2; sleep 600', {stdio: 'inherit'})")
    const stop = new AbortController()
    const loading = load({signal: stop.signal, onLine: text => text.includes('started') && stop.abort(new Error('stopped'))})
    await expect(loading).rejects.toThrow('stopped')
  })

  it('needs a cdktf.json that names one', async () => {
    expect(await failure()).toMatchObject({code: 'E_NO_STACKS', exit: 64})
    await put({'cdktf.json': '{'})
    expect((await failure()).message).toContain('cdktf.json: is not JSON')
    await put({'cdktf.json': '{}'})
    expect(await failure()).toMatchObject({code: 'E_STACK_FILE', exit: 64, message: `${cwd}/cdktf.json: names no app`})
    await put({'cdktf.json': {app: 'node app.cjs \0'}})
    expect(await failure()).toMatchObject({code: 'E_STACK_FILE', exit: 64, message: `${cwd}/cdktf.json: has a NUL character in its app`})
  })

  it('says how to run it by hand also in a folder whose name is no word of the shell', async () => {
    await put({'it $(is) here/cdktf.json': {app: 'exit 3'}})
    const error = await failure({cwd: join(cwd, 'it $(is) here')})
    expect(error.suggestions).toEqual([`Run it by hand to see more: (cd '${cwd}/it $(is) here' && exit 3)`])
  })
})
