/** Behind Terraform's HTTP state protocol: Terraform's backend `http`. What a stack leaves out the environment says (`http-backend.ts`). */
import {z} from 'zod'
import type {Json} from '../../base/json.ts'
import {secretsInAddress} from '../../base/secret-fields.ts'
import {belowAddress, besideAddress, besideLock, shownAddress} from '../http-address.ts'
import {type HttpLocation, httpBackendOf} from '../http-backend.ts'
import {HttpLedgerStore} from '../http-store.ts'
import {defineBackend} from './backend.ts'

const location = z.strictObject({
  type: z.literal('http'),
  address: z.string().exactOptional(),
  lockAddress: z.string().exactOptional(),
  unlockAddress: z.string().exactOptional(),
  lockMethod: z.string().exactOptional(),
  unlockMethod: z.string().exactOptional(),
  updateMethod: z.string().exactOptional(),
  username: z.string().exactOptional(),
  skipCertVerification: z.boolean().exactOptional(),
  retryMax: z.number().exactOptional(),
  retryWaitMinSeconds: z.number().exactOptional(),
  retryWaitMaxSeconds: z.number().exactOptional(),
})

const textIn = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const numberIn = (value: Json | undefined): number | undefined =>
  typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : undefined

export const http = defineBackend<HttpLocation>({
  arguments: {
    address: 'text',
    lock_address: 'text',
    unlock_address: 'text',
    lock_method: 'text',
    unlock_method: 'text',
    update_method: 'text',
    username: 'text',
    password: 'text',
    skip_cert_verification: 'flag',
    retry_max: 'number',
    retry_wait_min: 'number',
    retry_wait_max: 'number',
  },
  location,
  read(block, {say, warn}) {
    for (const name of ['address', 'lock_address', 'unlock_address'] as const) {
      const address = block[name]
      if (typeof address === 'string' && secretsInAddress(address).length > 0)
        say(
          `${name} of the backend http holds a secret, and a plan shows the addresses of its ledgers: set TF_HTTP_USERNAME and TF_HTTP_PASSWORD, or leave ${name} out and set TF_HTTP_${name.toUpperCase()}`,
        )
    }
    if (typeof block.password === 'string' && block.password !== '')
      warn('the password of the backend http is not read from the stack: set TF_HTTP_PASSWORD')
    return {
      type: 'http',
      ...defined({
        address: textIn(block.address),
        lockAddress: textIn(block.lock_address),
        unlockAddress: textIn(block.unlock_address),
        lockMethod: textIn(block.lock_method),
        unlockMethod: textIn(block.unlock_method),
        updateMethod: textIn(block.update_method),
        username: textIn(block.username),
        skipCertVerification: block.skip_cert_verification === true || block.skip_cert_verification === 'true' ? true : undefined,
        retryMax: numberIn(block.retry_max),
        retryWaitMinSeconds: numberIn(block.retry_wait_min),
        retryWaitMaxSeconds: numberIn(block.retry_wait_max),
      }),
    }
  },
  place: ({address}) => address,
  remoteState: ({address}) => (typeof address === 'string' ? address : undefined),
  named: address => (/^https?:/i.test(address) ? {type: 'http', address} : undefined),
  remarks: ({address, lockAddress, lockMethod = 'LOCK', unlockAddress, unlockMethod = 'UNLOCK'}) => {
    const isElsewhere = (lock: string) => !['', '/lock'].includes((address && belowAddress(lock, address)) ?? '-')
    const [lock, unlock] = [lockAddress, unlockAddress].map(it => it && isElsewhere(it) && shownAddress(it))
    return [...(lock ? [`is locked with ${lockMethod} ${lock}`] : []), ...(unlock ? [`is unlocked with ${unlockMethod} ${unlock}`] : [])]
  },
  signIn: ({username}, {TF_HTTP_USERNAME = '', TF_HTTP_PASSWORD = ''}) => ({
    username: username ?? TF_HTTP_USERNAME,
    password: TF_HTTP_PASSWORD,
  }),
  controls(where, {stack, environment}) {
    const {address, lockAddress, unlockAddress} = httpBackendOf(where, environment, stack)
    const beside = (lock: string | undefined) => lock && besideLock(lock, address)
    return {...where, ...defined({address: besideAddress(address), lockAddress: beside(lockAddress), unlockAddress: beside(unlockAddress)})}
  },
  lockedThere: ({address, ...where}) =>
    address === undefined ? undefined : {...where, address, lockAddress: address, unlockAddress: address},
  open(where, {stack, host, user, version, clock, random, notice, onWait = notice, environment, transport, retryMax, app, freeing}) {
    const backend = httpBackendOf({...where, ...defined({retryMax})}, environment, stack)
    const {skipCertVerification: insecure} = backend
    if (insecure) notice(`The certificate of the state server of stack "${stack}" is not verified (skip_cert_verification).`)
    return new HttpLedgerStore({
      backend,
      stack,
      transport: transport({insecure}),
      who: `${user}@${host}`,
      version,
      clock,
      random,
      notice,
      onWait,
      ...defined({app, freeing}),
    })
  },
})

/** Without the fields that are undefined. */
function defined<T extends object>(fields: T): {[K in keyof T]?: Exclude<T[K], undefined>} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
