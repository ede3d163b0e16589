/** Another screen or zoom may have another number of device pixels, without any change of size. */
export function watchRatio(changed: () => void): () => void {
  let query: MediaQueryList | undefined;
  const listen = (): void => {
    query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener('change', again, { once: true });
  };
  const again = (): void => {
    changed();
    listen();
  };
  listen();
  return () => query?.removeEventListener('change', again);
}
