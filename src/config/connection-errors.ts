/** What can be wrong with a connection before anything is sent. */
import type {Api, Deployment} from '../base/apis.ts'
import {AppError, EXIT} from '../base/errors.ts'

/** Nothing, or not everything, that is needed to sign in. */
export class NoCredentialsError extends AppError {
  /** @param missing - field names; @param given - those that are there */
  constructor(api: Api, missing: readonly string[], given: readonly string[]) {
    const flags = api === 'cloud' ? '--api-url … --api-key … --api-secret -' : '--url … --username … --password -'
    const variables =
      api === 'cloud'
        ? 'SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY and SVC_CLOUD_API_URL'
        : 'SVC_ENTERPRISE_URL, SVC_ENTERPRISE_USER and SVC_ENTERPRISE_PASSWORD'
    const deployment = api === 'cloud' ? 'cloud' : 'enterprise'
    super(
      given.length === 0
        ? `there are no credentials for the ${api} API`
        : `the credentials for the ${api} API are incomplete: ${missing.join(' and ')} missing (${given.join(', ')} given)`,
      {
        code: 'E_NO_CREDENTIALS',
        exit: EXIT.unauthorized,
        suggestions: [
          `Set the environment variables ${variables}.`,
          `Or save a profile: svcctl profile set <name> --deployment ${deployment} ${flags}`,
          `Or give them with the command: ${flags} (- reads the secret from standard input).`,
        ],
      },
    )
  }
}

export class NoAddressError extends AppError {
  constructor(api: Api) {
    const [variable, field, flag] = api === 'cloud' ? ['SVC_CLOUD_API_URL', 'api_url', '--api-url'] : ['SVC_ENTERPRISE_URL', 'url', '--url']
    super(`there is no address for the ${api} API`, {
      code: 'E_NO_ADDRESS',
      exit: EXIT.usage,
      suggestions: [`Set ${variable}, or ${field} in the profile, or give ${flag} ${api === 'cloud' ? 'https://…/v1' : 'https://…:9443'}.`],
    })
  }
}

export class AddressError extends AppError {
  constructor(api: Api, where: string, reason: string) {
    super(`the address of the ${api} API from ${where} ${reason}`, {
      code: 'E_ADDRESS',
      exit: EXIT.usage,
      suggestions: [
        `Write it as ${api === 'cloud' ? 'https://<host>/v1' : 'https://<host>:9443'}, without a user name, query or fragment.`,
      ],
    })
  }
}

/** A profile of one API, asked for with the other. */
export class ProfileTypeError extends AppError {
  constructor(name: string, has: Deployment, needs: Deployment, suitable: readonly string[]) {
    super(`profile "${name}" is for the ${has} deployment, and this needs one for ${needs}`, {
      code: 'E_PROFILE_TYPE',
      exit: EXIT.usage,
      suggestions: [
        suitable.length === 0
          ? `Make one: svcctl profile set <name> --deployment ${needs}`
          : `Choose one of these: --profile ${suitable.join(', --profile ')}`,
      ],
    })
  }
}
