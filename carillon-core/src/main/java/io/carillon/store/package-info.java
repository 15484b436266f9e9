/**
 * The ports between the engine and its storage: small interfaces and the records they speak in. No SQL, no threads.
 * Start at {@link io.carillon.store.RunStore}. A second storage is right when it passes the same contract tests.
 */
@NullMarked
package io.carillon.store;

import org.jspecify.annotations.NullMarked;
