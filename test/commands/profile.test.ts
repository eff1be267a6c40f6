import {chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Sandbox, sandbox} from '../support/program.ts'

let here: Sandbox
beforeEach(() => {
  here = sandbox()
})
afterEach(() => here.remove())

const config = () => readFileSync(here.configFile, 'utf8')

function writeConfig(text: string, mode = 0o600): void {
  mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
  writeFileSync(here.configFile, text, {mode})
  chmodSync(here.configFile, mode)
}

const EXISTING = `# our deployments
color = "never" # not ours

[profiles.prod]  # production
deployment_type = "cloud"
# rotated monthly
api_key = "\${PROD_KEY}"
api_secret = "\${PROD_SECRET:-none}"
api_url = "https://api.example.com/v1"
team = "storage" # unknown to svcctl

# the lab
[profiles.lab]
deployment_type = "enterprise"
url = "https://lab.example.com:9443"
username = "admin"
password = "lab-Pass-1234"
`

describe('profile set', () => {
  it('creates the file with mode 0600 in a folder with mode 0700', async () => {
    const {code} = await here.run(['profile', 'set', 'prod', '--deployment', 'cloud', '--api-key', 'key-1', '--api-secret', 'secret-1'])
    expect(code).toBe(0)
    expect(statSync(here.configFile).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(here.configFile)).mode & 0o777).toBe(0o700)
    expect(config()).toBe('[profiles.prod]\ndeployment_type = "cloud"\napi_key = "key-1"\napi_secret = "secret-1"\n')
  })

  it('keeps every comment, unknown key and reference when it changes one field', async () => {
    writeConfig(EXISTING)
    const {code} = await here.run(['profile', 'set', 'prod', '--api-url', 'https://eu.example.com/v1'], {env: {PROD_KEY: 'expanded-key'}})
    expect(code).toBe(0)
    expect(config()).toBe(EXISTING.replace('https://api.example.com/v1', 'https://eu.example.com/v1'))
  })

  it('refuses to unset what is neither a field nor in the file, and takes out keys it does not know', async () => {
    writeConfig(EXISTING)
    const wrong = await here.run(['profile', 'set', 'prod', '--unset', 'api_kay'])
    expect([wrong.code, wrong.stderr]).toEqual([
      64,
      'error: api_kay is no field of a profile (E_PROFILE_FIELD)\n  > Did you mean api_key?\n',
    ])
    expect(config()).toBe(EXISTING)
    expect((await here.run(['profile', 'set', 'prod', '--unset', 'team'], {env: {PROD_KEY: 'expanded-key'}})).code).toBe(0)
    expect(config()).not.toContain('team')
  })

  it('adds fields to a profile in the middle of the file and leaves the rest as it is', async () => {
    writeConfig(EXISTING)
    const {code, stdout} = await here.run(['profile', 'set', 'prod', '--rate', '60', '--refuse-risky', '-o', 'json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({rate: 60, refuse_risky: true})
    const added = config()
      .split('\n')
      .filter(line => !EXISTING.split('\n').includes(line))
    expect(added).toEqual(['rate = 60', 'refuse_risky = true'])
    for (const line of EXISTING.split('\n')) expect(config().split('\n')).toContain(line)
  })

  it('takes --type for --deployment', async () => {
    const {code, stdout} = await here.run(['profile', 'set', 'lab', '--type', 'enterprise', '--url', 'https://h:9443', '-o', 'json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({name: 'lab', deployment_type: 'enterprise', default: true, url: 'https://h:9443'})
  })

  it('reads a secret from standard input when it is given as -', async () => {
    const {code, stdout, stderr} = await here.run(['profile', 'set', 'p', '--deployment', 'cloud', '--api-key', 'k', '--api-secret', '-'], {
      input: 'from-stdin-9876\n',
    })
    expect(code).toBe(0)
    expect(config()).toContain('api_secret = "from-stdin-9876"')
    expect(stdout + stderr).not.toContain('from-stdin')
  })

  it('refuses a field of the other deployment type and writes nothing', async () => {
    const {code, stderr} = await here.run(['profile', 'set', 'p', '--deployment', 'cloud', '--username', 'admin'])
    expect(code).toBe(64)
    expect(stderr).toContain('username belongs to enterprise profiles')
    expect(() => config()).toThrow()
  })

  it('refuses a value that its field cannot have, without quoting it', async () => {
    const {code, stderr} = await here.run(['profile', 'set', 'p', '--deployment', 'cloud', '--rate', 'secretish'])
    expect(code).toBe(64)
    expect(stderr).toContain('rate must be a number')
    expect(stderr).not.toContain('secretish')
  })

  it.each(['--api-key -', '--api-secret -', '--files-api-key -', '--api-secret - --use-keyring'])(
    'refuses a secret that no header can hold, and writes nothing: %s',
    async words => {
      writeConfig(EXISTING)
      const {code, stdout, stderr} = await here.run(['profile', 'set', 'prod', ...words.split(' '), '-o', 'json'], {
        input: 'good\nsecret-77\n',
      })
      expect([code, JSON.parse(stdout).error.code]).toEqual([64, 'E_HEADER_VALUE'])
      expect(stdout + stderr).not.toContain('secret-77')
      expect(config()).toBe(EXISTING)
    },
  )

  it('takes any letters in a password, which no header holds as it is, and in references', async () => {
    writeConfig(EXISTING)
    expect((await here.run(['profile', 'set', 'lab', '--password', 'пароль'])).code).toBe(0)
    expect((await here.run(['profile', 'set', 'prod', '--api-key', '${PROD_KEY:-ключ}', '--api-secret', 'keyring:ключ'])).code).toBe(0)
  })

  it('changes nothing where the profile could not be shown afterwards, and says what stands in the way', async () => {
    await here.run(['profile', 'set', 'p', '--deployment', 'cloud', '--api-key', 'old'])
    for (const odd of ['rate = 1979-05-27', '[profiles.q]\ndeployment_type = 1979-05-27']) {
      const before = `${config()}${odd}\n`
      writeFileSync(here.configFile, before)
      const {code, stderr} = await here.run(['profile', 'set', 'p', '--api-key', 'new'])
      expect([code, stderr]).toEqual([64, expect.stringContaining('must be a text, a number, true or false (E_PROFILE_VALUE)')])
      expect(config()).toBe(before)
      writeFileSync(here.configFile, before.replace(`${odd}\n`, ''))
    }
  })

  it('needs --deployment for a new profile', async () => {
    const {code, stderr} = await here.run(['profile', 'set', 'p', '--api-key', 'k'])
    expect(code).toBe(64)
    expect(stderr).toContain('--deployment cloud or --deployment enterprise')
  })

  it('takes a field out with --unset', async () => {
    writeConfig(EXISTING)
    await here.run(['profile', 'set', 'lab', '--unset', 'password'])
    expect(config()).toBe(EXISTING.replace('password = "lab-Pass-1234"\n', ''))
  })

  it('changes the file behind a symbolic link and leaves the link', async () => {
    const real = join(here.folder, 'dotfiles.toml')
    writeFileSync(real, EXISTING)
    mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
    symlinkSync(real, here.configFile)
    await here.run(['profile', 'set', 'lab', '--username', 'root'])
    expect(lstatSync(here.configFile).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toBe(EXISTING.replace('"admin"', '"root"'))
  })
})

describe('profile show', () => {
  it('masks secrets to their last four characters, and shows references as they stand', async () => {
    writeConfig(EXISTING)
    const lab = await here.run(['profile', 'show', 'lab', '-o', 'json'])
    expect(JSON.parse(lab.stdout)).toEqual({
      name: 'lab',
      deployment_type: 'enterprise',
      default: true,
      url: 'https://lab.example.com:9443',
      username: 'admin',
      password: '********1234',
    })
    const prod = await here.run(['profile', 'show', 'prod', '-o', 'json'])
    expect(JSON.parse(prod.stdout)).toMatchObject({api_key: '${PROD_KEY}', api_secret: '${PROD_SECRET:-********}', team: '********'})
  })

  it('shows no address with a password in it, which a profile cannot be given either', async () => {
    const url = 'https://admin:hunter2-and-more@lab.example.com:9443'
    writeConfig(`[profiles.p]\ndeployment_type = "enterprise"\nurl = "${url}"\n`)
    const {stdout} = await here.run(['profile', 'show', 'p', '-o', 'json'])
    expect(JSON.parse(stdout).url).toBe('https://********@lab.example.com:9443')
    for (const [other, shown] of [
      ['https://lab.example.com/v1?token=hunter2-and-more', 'https://lab.example.com/v1?********'],
      ['https://admin:hunter2/and-more@lab.example.com', 'https://********@lab.example.com'],
      ['${LAB:-https://admin:hunter2-and-more@lab.example.com/#hunter2}', '${LAB:-https://********@lab.example.com/#********'],
      ['https://${LAB}/v1', 'https://${LAB}/v1'],
      ['${SCHEME:-https}://admin:hunter2@lab.example.com', '${SCHEME:-https}://********@lab.example.com'],
      ['${A}${B:-https://admin:hunter2@lab.example.com/v1}', '${A}${B:-https://********@lab.example.com/v1}'],
      [' https://admin:hunter2@lab.example.com', ' https://********@lab.example.com'],
      ['admin:hunter2@lab.example.com:9443', '********@lab.example.com:9443'],
      ['https:admin:hunter2@lab.example.com', '********@lab.example.com'],
      ['https://lab.example.com/v1?token=a@hunter2', 'https://********'],
      ['https://admin:hunter2?x@lab.example.com', 'https://********'],
    ]) {
      writeConfig(`[profiles.p]\ndeployment_type = "enterprise"\nurl = "${other}"\n`)
      expect(JSON.parse((await here.run(['profile', 'show', 'p', '-o', 'json'])).stdout).url).toBe(shown)
    }
    const refused = await here.run(['profile', 'set', 'q', '--deployment', 'enterprise', '--url', url, '-o', 'json'])
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([64, 'E_PROFILE_FIELD'])
    expect(refused.stdout + refused.stderr).not.toContain('hunter2')
  })

  it('shows nothing at all of a short secret', async () => {
    writeConfig('[profiles.p]\ndeployment_type = "enterprise"\npassword = "hunter2"\n')
    const {stdout} = await here.run(['profile', 'show', 'p', '-o', 'json'])
    expect(JSON.parse(stdout).password).toBe('********')
  })

  it('names the known profiles and the nearest one when there is none of that name', async () => {
    writeConfig(EXISTING)
    const {code, stdout, stderr} = await here.run(['profile', 'show', 'prdo', '-o', 'json'])
    expect(code).toBe(64)
    expect(JSON.parse(stdout).error).toEqual({
      code: 'E_PROFILE_UNKNOWN',
      message: 'there is no profile "prdo" (named by profile show)',
      suggestions: ['Did you mean "prod"?', 'Known profiles: lab, prod.'],
    })
    expect(stderr).toContain('Did you mean "prod"?')
  })
})

describe('profile list', () => {
  it('gives name, deployment type and default of each', async () => {
    writeConfig(
      `default_cloud = "b"\n[profiles.a]\ndeployment_type = "cloud"\n[profiles.b]\ndeployment_type = "cloud"\n[profiles.c]\ndeployment_type = "enterprise"\n`,
    )
    const {stdout, stderr} = await here.run(['profile', 'list', '-o', 'json'])
    expect(JSON.parse(stdout)).toEqual([
      {name: 'a', deployment_type: 'cloud', default: false},
      {name: 'b', deployment_type: 'cloud', default: true},
      {name: 'c', deployment_type: 'enterprise', default: true},
    ])
    expect(stderr).toBe('')
  })

  it('is an empty list too where a part of the way to the file is no folder', async () => {
    writeConfig('')
    const {code, stdout} = await here.run(['profile', 'list', '-o', 'json'], {env: {SVC_CONFIG_FILE: join(here.configFile, 'config.toml')}})
    expect([code, JSON.parse(stdout)]).toEqual([0, []])
  })

  it('is an empty list, with a hint on standard error, when there is no file', async () => {
    const {code, stdout, stderr} = await here.run(['profile', 'list', '-o', 'json'])
    expect({code, stdout}).toEqual({code: 0, stdout: '[]\n'})
    expect(stderr).toContain('profile set')
  })
})

describe('profile default', () => {
  it('sets one default per deployment type', async () => {
    writeConfig(EXISTING)
    expect((await here.run(['profile', 'default', 'prod'])).code).toBe(0)
    expect((await here.run(['profile', 'default', 'lab'])).code).toBe(0)
    expect(config()).toContain('default_cloud = "prod"')
    expect(config()).toContain('default_enterprise = "lab"')
    for (const line of EXISTING.split('\n')) expect(config().split('\n')).toContain(line)
  })
})

describe('profile remove', () => {
  it('asks first: without a terminal and without --yes it is exit 3 and changes nothing', async () => {
    writeConfig(EXISTING)
    const {code, stderr} = await here.run(['profile', 'remove', 'lab'])
    expect(code).toBe(3)
    expect(stderr).toContain('--yes')
    expect(config()).toBe(EXISTING)
  })

  it('takes out the profile and the default that named it, and nothing else', async () => {
    writeConfig(`default_enterprise = "lab"\n${EXISTING}`)
    expect((await here.run(['profile', 'remove', 'lab', '--yes'])).code).toBe(0)
    expect(config()).toBe(EXISTING.slice(0, EXISTING.indexOf('[profiles.lab]')))
  })
})

describe('profile validate', () => {
  it('reports every problem at once and quotes no value', async () => {
    writeConfig(`
[profiles.a]
deployment_type = "cloud"
api_key = "\${NOT_SET}"
rate = "secret-rate"
[profiles.b]
deployment_type = "clowd"
`)
    const {code, stdout, stderr} = await here.run(['profile', 'validate', '-o', 'json'])
    expect(code).toBe(64)
    expect(JSON.parse(stdout).error.problems.map((problem: {address: string}) => problem.address)).toEqual([
      'profiles.a.api_key',
      'profiles.a.rate',
      'profiles.b',
    ])
    expect(stderr).toContain('NOT_SET')
    expect(stdout + stderr).not.toContain('secret-rate')
    expect(stdout + stderr).not.toContain('clowd')
  })

  it('warns of permissions that are too wide, and closes them with --fix', async () => {
    writeConfig(EXISTING, 0o644)
    chmodSync(dirname(here.configFile), 0o755)
    const env = {PROD_KEY: 'k'}
    const before = await here.run(['profile', 'validate'], {env})
    expect(before.code).toBe(0)
    expect(before.stderr).toContain('0644')
    expect(before.stderr).toContain('0755')
    const {code, stdout} = await here.run(['profile', 'validate', '--fix', '-o', 'json'], {env})
    expect(code).toBe(0)
    expect(JSON.parse(stdout).fixed).toEqual([here.configFile, dirname(here.configFile)])
    expect(statSync(here.configFile).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(here.configFile)).mode & 0o777).toBe(0o700)
    expect((await here.run(['profile', 'validate'], {env})).stderr).not.toContain('mode')
  })

  it('names line and column of a syntax error and never the text there', async () => {
    writeConfig('[profiles.p]\ndeployment_type = "cloud"\napi_secret = hunter2-unquoted\n')
    const {code, stdout, stderr} = await here.run(['profile', 'validate', '-o', 'json'])
    expect(code).toBe(64)
    expect(JSON.parse(stdout).error.code).toBe('E_CONFIG_SYNTAX')
    expect(stderr).toContain('line 3, column 14')
    expect(stdout + stderr).not.toContain('hunter2')
  })
})

describe('profile path', () => {
  it('is XDG_CONFIG_HOME, or what SVC_CONFIG_FILE says', async () => {
    expect(JSON.parse((await here.run(['profile', 'path', '-o', 'json'])).stdout)).toEqual({path: here.configFile})
    expect((await here.run(['profile', 'path'], {env: {SVC_CONFIG_FILE: '/elsewhere/c.toml'}})).stdout).toBe('/elsewhere/c.toml\n')
  })
})

describe('profile validate --connect', () => {
  const serving = async (work: (address: string, seen: string[]) => Promise<void>) => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['x-api-key'] ?? request.headers.authorization}`)
      const known = request.headers['x-api-secret-key'] === 'right-secret' || request.headers.authorization !== undefined
      response.writeHead(known ? 200 : 401, {'content-type': 'application/json'}).end('{}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen)
    } finally {
      server.close()
    }
  }
  const cloud = (name: string, address: string, secret: string) =>
    `[profiles.${name}]\ndeployment_type = "cloud"\napi_key = "k-${name}"\napi_secret = "${secret}"\napi_url = "${address}/v1"\n`

  it('sends one GET with each profile alone, whatever the environment holds', async () => {
    await serving(async (address, seen) => {
      writeConfig(
        `${cloud('a', address, 'right-secret')}[profiles.b]\ndeployment_type = "enterprise"\nurl = "${address}"\nusername = "u"\npassword = "p"\n`,
      )
      const {code, stdout} = await here.run(['profile', 'validate', '--connect', '-o', 'json'], {env: {SVC_CLOUD_API_KEY: 'other'}})
      expect(code).toBe(0)
      expect(JSON.parse(stdout).connected).toEqual([
        {name: 'a', address: `${address}/v1`, status: 200},
        {name: 'b', address, status: 200},
      ])
      expect(seen).toEqual(['GET /v1/ k-a', 'GET /v1/cluster Basic dTpw'])
    })
  })

  it('names each profile that fails: exit 9 for wrong credentials, 13 when nobody answers', async () => {
    await serving(async address => {
      writeConfig(`${cloud('a', address, 'right-secret')}${cloud('b', address, 'wrong-secret')}`)
      const {code, stdout, stderr} = await here.run(['profile', 'validate', '--connect', '-o', 'json'])
      expect(code).toBe(9)
      expect(JSON.parse(stdout).error.problems).toEqual([{address: 'profiles.b', message: `${address}/v1 answers 401`}])
      expect(stderr).not.toContain('wrong-secret')
      const one = await here.run(['profile', 'validate', '--connect', '--profile', 'a', '--rate', '60', '--request-timeout', '5s'])
      expect([one.code, one.stdout]).toEqual([0, expect.stringMatching(/is valid: 2 profiles, and a connects\n$/)])
      expect((await here.run(['profile', 'validate', '--connect', '--profile', 'z'])).code).toBe(64)
    })
    writeConfig(cloud('c', 'http://127.0.0.1:1', 'x-secret'))
    expect((await here.run(['profile', 'validate', '--connect'])).code).toBe(13)
  })
})
