/** Lists of the cloud API that nobody manages anything in. */
export const cloudLists: readonly string[] = ['/payment-methods', '/regions']
