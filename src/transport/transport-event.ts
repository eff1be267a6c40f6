/** What the transport tells of its doings, for `-v` and `-vv`. Holds no header, no body and no query value. */

export type TransportEvent =
  /** Somebody waits for an answer from now on, however many tries it takes. */
  | {readonly type: 'asked'}
  | {readonly type: 'answered'}
  /** One request that was sent, with what came of it. */
  | {
      readonly type: 'request'
      readonly method: string
      /** Below the base address. */
      readonly path: string
      /** Absent: no answer; `failure` is the error's code then. */
      readonly status?: number
      readonly failure?: string
      readonly ms: number
      readonly attempt: number
      /** How long it waited for the budget. */
      readonly waitedMs: number
      /** Tokens left after it. */
      readonly available: number
    }
  /** It will be sent again. */
  | {
      readonly type: 'retry'
      readonly method: string
      readonly path: string
      readonly attempt: number
      readonly delayMs: number
      readonly because: string
    }
  | {readonly type: 'redirect'; readonly method: string; readonly path: string; readonly status: number; readonly to: string}
  /** A 429; `ms`: how long nobody of this account sends. */
  | {readonly type: 'paused'; readonly ms: number}
  /** Requests wait: for the budget, or (`paused`) since the server asked for it. `file`: without it the wait is over. */
  | {
      readonly type: 'waiting'
      readonly ms: number
      readonly requests: number
      readonly perMinute: number
      readonly paused: boolean
      readonly file: string
    }
  /** The shared budget file was unreadable and began anew. */
  | {readonly type: 'budget-rebuilt'; readonly file: string; readonly because: string}
  /** This process counts for itself: other processes of this machine do not know of its requests. */
  | {readonly type: 'budget-alone'; readonly file: string; readonly because: string}

export type OnTransportEvent = (event: TransportEvent) => void

/** The path as it may be shown: values of query parameters that sound like secrets are left out. */
export const shownPath = (path: string): string => path.replaceAll(/([?&](?=[^=&?]*(?:key|secret|token|pass))[^=&?]*=)[^&]*/gi, '$1…')
