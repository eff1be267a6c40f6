/** Codes of the cluster API's errors, and the next step after each. */
import type {ErrorVoice} from '../api/api-errors.ts'

export const clusterVoice = (credentialSource?: string): ErrorVoice => ({
  credentialSource,
  codes: {
    unauthorized: 'E_CLUSTER_UNAUTHORIZED',
    forbidden: 'E_CLUSTER_FORBIDDEN',
    notFound: 'E_CLUSTER_NOT_FOUND',
    rateLimited: 'E_CLUSTER_RATE_LIMITED',
    refused: 'E_CLUSTER_REFUSED',
    server: 'E_CLUSTER_SERVER',
    unreadable: 'E_CLUSTER_UNREADABLE',
    unknownOutcome: 'E_CLUSTER_OUTCOME_UNKNOWN',
    taskFailed: 'E_CLUSTER_TASK_FAILED',
    taskTimeout: 'E_CLUSTER_TASK_TIMEOUT',
  },
  advice: {
    unauthorized: [
      'Check the user name and the password where they come from: SVC_ENTERPRISE_USER and SVC_ENTERPRISE_PASSWORD in the environment, or the profile (`svcctl profile list` names them).',
    ],
    forbidden: ['Use a cluster user whose role may do this.'],
    notFound: [
      'Check the path and the ids in it; this server line may lack the path (`svcctl api enterprise get /v1/bootstrap` tells its version).',
    ],
    rateLimited: ['Wait a minute and run the command again; the limit is set in the cluster settings.'],
    refused: ['Check the format of the request, and that the object is in a state in which it can be changed.'],
    server: ['Run the command again a little later: a node that is starting is not ready. `svcctl enterprise node list` shows the nodes.'],
    unreadable: ['Check that the address is that of the cluster API (port 9443) and that no proxy answers in its place.'],
    unknownOutcome: ['Run `svcctl plan`: it looks at what is there now.'],
    taskFailed: ['Run `svcctl enterprise cluster logs` to see what the cluster says.'],
    taskTimeout: ['Look at the object again a little later, or wait longer with --timeout.'],
  },
})
