import com.hazelcast.client.config.ClientConfig;
import org.apache.seatunnel.common.config.Common;
import org.apache.seatunnel.common.config.DeployMode;
import org.apache.seatunnel.engine.client.SeaTunnelClient;
import org.apache.seatunnel.engine.common.config.ConfigProvider;
import org.apache.seatunnel.engine.common.config.JobConfig;
import org.apache.seatunnel.engine.common.config.SeaTunnelConfig;
import org.apache.seatunnel.engine.server.SeaTunnelServerStarter;

/** Runs job files one after the other in an engine of this process; prints `STATE <state> <seconds> <file>` for each. */
public class RunJobs {
    public static void main(String[] files) throws Exception {
        Common.setDeployMode(DeployMode.CLIENT);
        String cluster = "penstock-" + ProcessHandle.current().pid();
        SeaTunnelConfig config = ConfigProvider.locateAndGetSeaTunnelConfig();
        config.getHazelcastConfig().setClusterName(cluster);
        SeaTunnelServerStarter.createHazelcastInstance(config);
        ClientConfig address = ConfigProvider.locateAndGetClientConfig();
        address.setClusterName(cluster);
        SeaTunnelClient engine = new SeaTunnelClient(address);
        for (String file : files) {
            JobConfig job = new JobConfig();
            job.setName(file);
            long start = System.nanoTime();
            Object state;
            try {
                state = engine.createExecutionContext(file, job, config).execute().waitForJobComplete();
            } catch (Exception error) {
                error.printStackTrace();
                state = "REFUSED";
            }
            System.out.println("STATE " + state + " " + (System.nanoTime() - start) / 1e9 + " " + file);
        }
        System.exit(0);
    }
}
