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

/** The flags of the server, one for each {@link Setting}, for the command that starts it and the one that shows its settings. */
public final class ServerFlags {
    private final Map<Setting, String> given = new EnumMap<>(Setting.class);

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings as 'key = value' lines; flags and the environment come before it. Default: $"
                    + Settings.FILE + ".")
    private @Nullable String file;

    /** Called once by the parser, with the command that has these flags. */
    @Spec(Spec.Target.MIXEE)
    void on(CommandSpec command) {
        for (Setting setting : Setting.values())
            command.addOption(OptionSpec.builder(setting.flag())
                    .paramLabel(setting.form())
                    .description(setting.means())
                    .type(String.class)
                    .setter(new ISetter() {
                        @Override
                        public <T> T set(T value) {
                            // Null before each parse: nothing was said.
                            if (value == null) given.remove(setting);
                            else given.put(setting, value.toString());
                            return value;
                        }
                    })
                    .build());
    }

    /** All settings, with these in front. */
    public Settings settings(Shell shell) {
        return Settings.read(shell, given, file);
    }
}
