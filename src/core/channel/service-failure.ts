/** A service could not be asked at the moment. The act that needed it is not lost: it is read again, or comes again. */
export class ServiceFailure extends Error {
  override readonly name = "ServiceFailure";
}
