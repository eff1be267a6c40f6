/** Codes of the cloud API's errors, and the next step after each (contract section 7). */
import type {ErrorVoice} from '../api/api-errors.ts'

const SEE_ALL = 'Run the command again with -vv to see the whole answer.'

export const cloudVoice = (credentialSource?: string): ErrorVoice => ({
  credentialSource,
  codes: {
    unauthorized: 'E_CLOUD_UNAUTHORIZED',
    forbidden: 'E_CLOUD_FORBIDDEN',
    notFound: 'E_CLOUD_NOT_FOUND',
    rateLimited: 'E_CLOUD_RATE_LIMITED',
    refused: 'E_CLOUD_REFUSED',
    server: 'E_CLOUD_SERVER',
    unreadable: 'E_CLOUD_UNREADABLE',
    unknownOutcome: 'E_CLOUD_OUTCOME_UNKNOWN',
    taskFailed: 'E_CLOUD_TASK_FAILED',
    taskTimeout: 'E_CLOUD_TASK_TIMEOUT',
  },
  advice: {
    unauthorized: [
      'Check the API key and its secret where they come from: SVC_CLOUD_API_KEY and SVC_CLOUD_SECRET_KEY in the environment, or the profile (`svcctl profile list` names them).',
    ],
    forbidden: ['Use an API key whose role may do this, or ask the owner of the account for the permission.'],
    notFound: ['Check the path and the ids in it, and that the address of the API ends in its version (`…/v1`).'],
    rateLimited: ['Wait a minute and run the command again; a lower --rate leaves room for others who use the same account.'],
    refused: ['Check the format of the request; with -vv the command shows the whole answer.'],
    server: ['Run the command again a little later; if it stays, report it to the operator of the API.'],
    unreadable: ['Check that the address is that of the API and that no proxy answers in its place.', SEE_ALL],
    unknownOutcome: ['Run `svcctl plan`: it looks at what is there now.'],
    taskFailed: ['Run `svcctl task list` and `svcctl task show ID` to see the whole task.'],
    taskTimeout: ['Run `svcctl task wait ID`, or give it longer with --timeout.'],
  },
})
