/**
 * What a server is told: each setting comes from a flag, the environment or a file, in this order. Start at {@link io.carillon.cli.config.Settings}. Reads
 * and checks, and starts nothing.
 */
@NullMarked
package io.carillon.cli.config;

import org.jspecify.annotations.NullMarked;
