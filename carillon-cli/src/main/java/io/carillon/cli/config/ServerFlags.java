package io.carillon.cli.config;

import io.carillon.cli.shell.Shell;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options of the server, one per {@link Setting}. Used by the command that starts the server and the command that
 * prints its settings.
 */
public final class ServerFlags {
    private final Map<Setting, String> given = new EnumMap<>(Setting.class);

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "File with 'key = value' settings. Options and environment variables override it. Default: $"
                    + Settings.FILE_VARIABLE + ".")
    private @Nullable String file;

    /** Adds the options to the command. picocli calls this method once. */
    @Spec(Spec.Target.MIXEE)
    void addTo(CommandSpec command) {
        for (Setting setting : Setting.values())
            command.addOption(OptionSpec.builder(setting.flag())
                    .paramLabel(setting.valueFormat())
                    .description(setting.description())
                    .type(String.class)
                    .arity(setting.isSwitch() ? "0..1" : "1")
                    .fallbackValue(setting.isSwitch() ? "true" : "")
                    .setter(new ISetter() {
                        @Override
                        public <T> T set(T value) {
                            // picocli sets the option to null before each parse.
                            if (value == null) given.remove(setting);
                            else given.put(setting, value.toString());
                            return value;
                        }
                    })
                    .build());
    }

    /** Returns all settings. These options override all other sources. */
    public Settings settings(Shell shell) {
        return Settings.read(shell, given, file);
    }
}
