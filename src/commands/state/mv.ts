import TransferCommand from '../transfer.ts'

/** Terraform's word for `transfer`. */
export default class StateMvCommand extends TransferCommand {
  static override summary = 'move objects from one stack to another one, without a request: the same as transfer'
}
