/** The guard that makes "plan is GET-only" and `mode = "read-only"` facts of the transport and not of good will. */
import {AppError, EXIT} from '../base/errors.ts'
import type {ConnectedClient} from './api-client.ts'

/** - `plan`: whatever runs here only looks. - `read-only`: the profile says so. */
export type GuardedMode = 'plan' | 'read-only'

export class ReadOnlyError extends AppError {
  constructor(request: {readonly method: string; readonly path: string}, mode: GuardedMode, profile?: string) {
    const path = request.path.split('?')[0]
    const named = profile === undefined ? 'the profile' : `profile ${JSON.stringify(profile)}`
    super(
      mode === 'plan'
        ? `${request.method} ${path} was not sent: a plan only reads`
        : `${request.method} ${path} was not sent: ${named} is read-only`,
      {
        code: 'E_READ_ONLY',
        exit: EXIT.refused,
        suggestions:
          mode === 'plan'
            ? ['Use `svcctl apply` to change something.']
            : ['Use another profile (--profile NAME), or remove `mode = "read-only"` from this one.'],
      },
    )
  }
}

/**
 * The same client, refusing everything but GET before anything is sent or waited for.
 * @param profile - which one says so
 */
export function readOnly(client: ConnectedClient, mode: GuardedMode, profile?: string): ConnectedClient {
  const check = (request: {readonly method: string; readonly path: string}) => {
    if (request.method !== 'GET') throw new ReadOnlyError(request, mode, profile)
  }
  return {
    address: client.address,
    spending: client.spending,
    now: client.now,
    call: async (call, options) => {
      check(call)
      return client.call(call, options)
    },
    openStream: async (call, options) => {
      check(call)
      return client.openStream(call, options)
    },
  }
}
