import {describe, expect, it} from 'vitest'
import {proxyFor} from '../../src/transport/proxy.ts'

const isDirect = (url: string, noProxy: string): boolean => proxyFor(url, {http: 'http://p:1', https: 'http://p:1', noProxy}) === undefined

describe('NO_PROXY', () => {
  it.each([
    ['https://api.example.com/v1', 'example.com'],
    ['https://api.example.com/v1', '.example.com'],
    ['https://api.example.com/v1', '*.example.com'],
    ['https://api.example.com/v1', 'API.Example.COM.'],
    ['https://api.example.com./v1', 'api.example.com'],
    ['https://api.example.com/v1', ' , ,other.test ,api.example.com:443'],
    ['https://b\u00fccher.example/', 'b\u00fccher.example'],
    ['https://10.1.2.3/', '10.0.0.0/8:443'],
    ['https://[::ffff:10.1.2.3]/', '10.0.0.0/8'],
    ['https://[fd00::1]/', 'FD00:0:0::1'],
    ['https://[fd00::1]:9443/', '[fd00::1]:9443'],
    ['https://[fd00::1]/', 'fd00::/8'],
    ['https://[fd00::1]/', '[fd00::]/8'],
    ['https://[fd00::1]/', '[fd00::/8]:443'],
    ['https://[fe80::1]/', 'fe80::1%eth0'],
    ['https://[fe80::1]/', '[fe80::1%25eth0]:443'],
    ['https://[fe80::2]/', 'fe80::1%eth0/64'],
    ['https://localhost./', ''],
  ])('spares %s where it has %j', (url, noProxy) => {
    expect(isDirect(url, noProxy)).toBe(true)
  })

  it.each([
    ['https://api.example.com/v1', 'api.example.com:8443'],
    ['https://xexample.com/', 'example.com'],
    ['https://example.com/', '., *., example.com:abc'],
    ['https://10.0.0.1/', '10.1'],
    ['https://10.1.2.3/', '10.0.0.0/33'],
    ['https://[fd00::1]/', '[fd00::]/129'],
  ])('does not spare %s where it has %j', (url, noProxy) => {
    expect(isDirect(url, noProxy)).toBe(false)
  })
})
