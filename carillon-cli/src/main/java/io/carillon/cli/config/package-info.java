/**
 * The settings of a server. Each setting comes from an option, the environment or a configuration file, in this order.
 * Start at {@link io.carillon.cli.config.Settings}. This package reads and checks settings; it starts nothing and must
 * not depend on the commands.
 */
@NullMarked
package io.carillon.cli.config;

import org.jspecify.annotations.NullMarked;
