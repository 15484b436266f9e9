/**
 * Authenticated encryption of what the server gives to clients and reads again: cursors and session cookies. Contains
 * no keys. Start at {@link io.carillon.server.cipher.AesGcm}.
 */
@NullMarked
package io.carillon.server.cipher;

import org.jspecify.annotations.NullMarked;
