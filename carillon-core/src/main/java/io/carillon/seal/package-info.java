/** Secrets and their encryption, the one place for it. Start at {@link io.carillon.seal.Keyring}. Knows nothing but the JDK and the shared words. */
@NullMarked
package io.carillon.seal;

import org.jspecify.annotations.NullMarked;
