/**
 * Secrets and their encryption with master keys. Start at {@link io.carillon.seal.Keyring}. Depends on the JDK and the
 * basic types only; no other package encrypts.
 */
@NullMarked
package io.carillon.seal;

import org.jspecify.annotations.NullMarked;
