/** The secret of a new second factor, as a picture and as text. */
export function SecretToScan({ uri, qrCode }: { uri: string; qrCode: string }) {
  const secret = /[?&]secret=([^&]+)/.exec(uri)?.[1];
  return (
    <>
      <img className="qr" src={qrCode} alt="QR code of the new second factor" width="220" height="220" />
      {secret && (
        <p className="help">
          Or type this secret into the app: <code>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        </p>
      )}
    </>
  );
}
