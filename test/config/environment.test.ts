import {isAbsolute} from 'node:path'
import {describe, expect, it} from 'vitest'
import {readEnvironment} from '../../src/config/environment.ts'
import {expandVariables} from '../../src/config/expand.ts'
import {processorTime} from '../support/processor-time.ts'

describe('the environment', () => {
  it('puts files where XDG says, and below the home folder otherwise', () => {
    expect(readEnvironment({HOME: '/h'})).toMatchObject({configFile: '/h/.config/svcctl/config.toml', stateDir: '/h/.local/state/svcctl'})
    expect(readEnvironment({HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s'})).toMatchObject({
      configFile: '/c/svcctl/config.toml',
      stateDir: '/s/svcctl',
    })
    expect(readEnvironment({HOME: '/h', XDG_CONFIG_HOME: 'relative'}).configFile).toBe('/h/.config/svcctl/config.toml')
    // What is empty or relative is no folder of this person: it would be whatever lies in the working folder.
    for (const HOME of ['', '.', 'home', './x']) {
      expect(readEnvironment({HOME, USERPROFILE: '/u'}).home).toBe('/u')
      const {home, configFile, stateDir} = readEnvironment({HOME, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '.'})
      expect([isAbsolute(home), configFile.startsWith(home), stateDir.startsWith(home)]).toEqual([true, true, true])
    }
    expect(readEnvironment({HOME: '/h', SVC_CONFIG_FILE: 'here.toml', SVC_STATE_DIR: '/state'})).toMatchObject({
      configFile: 'here.toml',
      stateDir: '/state',
    })
  })

  it('takes an empty variable for an absent one', () => {
    expect(readEnvironment({SVC_CLOUD_API_KEY: '', SVC_PROFILE: ''})).not.toHaveProperty('profile')
    expect(readEnvironment({SVC_CLOUD_API_KEY: ''}).sources).toEqual({})
  })

  it('gathers Terraform’s variables without their prefix', () => {
    const {terraformHttp, terraformVariables} = readEnvironment({TF_HTTP_ADDRESS: 'https://x', TF_VAR_a: '1', TF_VAR_empty: ''})
    expect(terraformHttp).toEqual({ADDRESS: 'https://x'})
    expect(terraformVariables).toEqual({a: '1', empty: ''})
  })

  it('refuses a log level it does not know', () => {
    expect(readEnvironment({SVC_LOG: 'DEBUG'}).logLevel).toBe('debug')
    expect(() => readEnvironment({SVC_LOG: 'loud'})).toThrow('SVC_LOG is not "debug" or "trace"')
  })

  it('knows which of its values are secrets', () => {
    expect(readEnvironment({SVC_ENTERPRISE_PASSWORD: 'p1', SVC_ENTERPRISE_USER: 'u', TF_HTTP_PASSWORD: 'p2'}).secrets).toEqual(['p1', 'p2'])
  })

  it.each([
    ['http://ann:p%2Fw@proxy:1', ['p%2Fw', 'p/w']],
    ['ann:pw@proxy', ['pw', 'pw']],
    ['http://ann:p@w@proxy', ['p@w', 'p@w']],
    ['http://t0ken@proxy:1', ['t0ken', 't0ken']],
    ['t0ken:@proxy', ['t0ken', 't0ken']],
    ['http://proxy:1', []],
    ['http://proxy:1/@', []],
  ])('knows what is secret in the address of a proxy: %s', (address, secrets) => {
    expect(readEnvironment({HTTPS_PROXY: address}).secrets).toEqual(secrets)
  })
})

describe('expansion of variables', () => {
  const expand = (text: string) => expandVariables(text, {A: 'one', EMPTY: '', NESTED: '${A}'}, 'profiles.p.api_key', 'config.toml')

  it.each([
    ['${A}', 'one'],
    ['x-${A}-${A}', 'x-one-one'],
    ['${B:-two}', 'two'],
    ['${B:-}', ''],
    ['${EMPTY:-filled}', 'filled'],
    ['${EMPTY}', ''],
    ['$A', '$A'],
    ['${A', '${A'],
    ['${1A}', '${1A}'],
    ['${NESTED}', '${A}'],
  ])('of %s is %s', (text, expanded) => {
    expect(expand(text)).toBe(expanded)
  })

  it('takes as long as the text is, also where nothing that begins there ends', () => {
    const text = '${A:-'.repeat(60_000)
    const takenMs = processorTime()
    expect(expand(`${text}`)).toBe(text)
    expect(expand(`}${text}`)).toBe(`}${text}`)
    expect(takenMs()).toBeLessThan(1_000)
  })

  it('fails for a variable that is not set, naming it and the key', () => {
    expect(() => expand('${MISSING}')).toThrow('profiles.p.api_key in config.toml needs the environment variable MISSING, which is not set')
  })
})
